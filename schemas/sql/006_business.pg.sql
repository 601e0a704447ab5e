-- Lists are filtered by metadata. Containment is all that they ask, so the operator class that knows only that is enough.
CREATE INDEX IF NOT EXISTS products_metadata_idx ON products USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS services_metadata_idx ON services USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS suppliers_metadata_idx ON suppliers USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS tax_rates_metadata_idx ON tax_rates USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS receipts_metadata_idx ON receipts USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS transfers_metadata_idx ON transfers USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS write_offs_metadata_idx ON write_offs USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS stock_counts_metadata_idx ON stock_counts USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS purchase_orders_metadata_idx ON purchase_orders USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS supplier_returns_metadata_idx ON supplier_returns USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS clients_metadata_idx ON clients USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS deals_metadata_idx ON deals USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS orders_metadata_idx ON orders USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS order_payments_metadata_idx ON order_payments USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS order_returns_metadata_idx ON order_returns USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS sales_metadata_idx ON sales USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';
CREATE INDEX IF NOT EXISTS bookings_metadata_idx ON bookings USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';

-- Images do not become smaller: compressing them would only take time.
ALTER TABLE file_chunks ALTER COLUMN body SET STORAGE EXTERNAL;

-- The cleanup job looks for rows whose time is over; CockroachDB deletes them itself.
CREATE INDEX IF NOT EXISTS sale_drafts_expires_idx ON sale_drafts (expires_at);
CREATE INDEX IF NOT EXISTS booking_holds_expires_idx ON booking_holds (expires_at);
