-- Indexes for lists that sort names by the case-insensitive Unicode root collation.

CREATE INDEX IF NOT EXISTS clients_name_und_idx ON clients (company_id, (display_name COLLATE und), id);

CREATE INDEX IF NOT EXISTS suppliers_name_und_idx ON suppliers (company_id, (name COLLATE und), id);

CREATE INDEX IF NOT EXISTS products_name_und_idx ON products (company_id, (name COLLATE und), id);

CREATE INDEX IF NOT EXISTS products_sku_und_idx ON products (company_id, (sku COLLATE und), id);

CREATE INDEX IF NOT EXISTS products_brand_und_idx ON products (company_id, (brand COLLATE und), id);
