-- Ids of records in other systems, unique per company and source, and data that integrations keep with records.

ALTER TABLE products ADD COLUMN IF NOT EXISTS source TEXT;

ALTER TABLE products ADD COLUMN IF NOT EXISTS external_id TEXT;

ALTER TABLE products ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX IF NOT EXISTS products_external_id_key ON products (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

ALTER TABLE product_variants ADD COLUMN IF NOT EXISTS source TEXT;

ALTER TABLE product_variants ADD COLUMN IF NOT EXISTS external_id TEXT;

ALTER TABLE product_variants ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX IF NOT EXISTS product_variants_external_id_key ON product_variants (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

ALTER TABLE services ADD COLUMN IF NOT EXISTS source TEXT;

ALTER TABLE services ADD COLUMN IF NOT EXISTS external_id TEXT;

ALTER TABLE services ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX IF NOT EXISTS services_external_id_key ON services (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

ALTER TABLE categories ADD COLUMN IF NOT EXISTS source TEXT;

ALTER TABLE categories ADD COLUMN IF NOT EXISTS external_id TEXT;

ALTER TABLE categories ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX IF NOT EXISTS categories_external_id_key ON categories (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

ALTER TABLE clients ADD COLUMN IF NOT EXISTS source TEXT;

ALTER TABLE clients ADD COLUMN IF NOT EXISTS external_id TEXT;

ALTER TABLE clients ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX IF NOT EXISTS clients_external_id_key ON clients (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

ALTER TABLE suppliers ADD COLUMN IF NOT EXISTS source TEXT;

ALTER TABLE suppliers ADD COLUMN IF NOT EXISTS external_id TEXT;

ALTER TABLE suppliers ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX IF NOT EXISTS suppliers_external_id_key ON suppliers (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

ALTER TABLE sales ADD COLUMN IF NOT EXISTS source TEXT;

ALTER TABLE sales ADD COLUMN IF NOT EXISTS external_id TEXT;

ALTER TABLE sales ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX IF NOT EXISTS sales_external_id_key ON sales (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

ALTER TABLE receipts ADD COLUMN IF NOT EXISTS source TEXT;

ALTER TABLE receipts ADD COLUMN IF NOT EXISTS external_id TEXT;

ALTER TABLE receipts ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX IF NOT EXISTS receipts_external_id_key ON receipts (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

ALTER TABLE deals ADD COLUMN IF NOT EXISTS external_id TEXT;

ALTER TABLE deals ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX IF NOT EXISTS deals_external_id_key ON deals (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

ALTER TABLE orders ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

CREATE UNIQUE INDEX IF NOT EXISTS orders_external_id_key ON orders (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

ALTER TABLE bookings ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

-- Bookings of clients that name no source have the source api. Their external ids were never unique.
CREATE UNIQUE INDEX IF NOT EXISTS bookings_external_id_key ON bookings (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL AND source <> 'api';

CREATE INDEX IF NOT EXISTS bookings_external_idx ON bookings (company_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS products_barcode_idx ON products (company_id, barcode) WHERE barcode IS NOT NULL;

CREATE INDEX IF NOT EXISTS orders_deal_idx ON orders (company_id, deal_id, created_at, id) WHERE deal_id IS NOT NULL;

-- Lists are filtered by source.
CREATE INDEX IF NOT EXISTS products_source_name_idx ON products (company_id, source, created_at, id) WHERE source IS NOT NULL;

CREATE INDEX IF NOT EXISTS services_source_name_idx ON services (company_id, source, created_at, id) WHERE source IS NOT NULL;

CREATE INDEX IF NOT EXISTS clients_source_name_idx ON clients (company_id, source, created_at, id) WHERE source IS NOT NULL;

CREATE INDEX IF NOT EXISTS suppliers_source_name_idx ON suppliers (company_id, source, created_at, id) WHERE source IS NOT NULL;

CREATE INDEX IF NOT EXISTS sales_source_name_idx ON sales (company_id, source, created_at, id) WHERE source IS NOT NULL;

CREATE INDEX IF NOT EXISTS receipts_source_name_idx ON receipts (company_id, source, created_at, id) WHERE source IS NOT NULL;

CREATE INDEX IF NOT EXISTS deals_source_name_idx ON deals (company_id, source, created_at, id) WHERE source IS NOT NULL;

CREATE INDEX IF NOT EXISTS orders_source_name_idx ON orders (company_id, source, created_at, id) WHERE source IS NOT NULL;

CREATE INDEX IF NOT EXISTS bookings_source_name_idx ON bookings (company_id, source, created_at, id) WHERE source IS NOT NULL;
