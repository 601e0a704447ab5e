-- Lists are filtered by metadata. Containment is all that they ask, so the operator class that knows only that is enough.
CREATE INDEX IF NOT EXISTS categories_metadata_idx ON categories USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS products_metadata_idx ON products USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS product_variants_metadata_idx ON product_variants USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS services_metadata_idx ON services USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS suppliers_metadata_idx ON suppliers USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS receipts_metadata_idx ON receipts USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS clients_metadata_idx ON clients USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS deals_metadata_idx ON deals USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS orders_metadata_idx ON orders USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS order_payments_metadata_idx ON order_payments USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS sales_metadata_idx ON sales USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS bookings_metadata_idx ON bookings USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';

-- Images do not become smaller: compressing them would only take time.
ALTER TABLE file_chunks ALTER COLUMN body SET STORAGE EXTERNAL;
