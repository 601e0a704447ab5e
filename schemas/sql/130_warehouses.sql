-- Indexes for the lists of warehouses, stock and movements.

CREATE INDEX IF NOT EXISTS warehouses_created_idx ON warehouses (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS warehouses_updated_idx ON warehouses (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS warehouses_name_und_idx ON warehouses (company_id, (name COLLATE und), id);

CREATE UNIQUE INDEX IF NOT EXISTS stocks_id_key ON stocks (company_id, id);

CREATE INDEX IF NOT EXISTS stocks_created_idx ON stocks (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS stocks_updated_idx ON stocks (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS stocks_qty_idx ON stocks (company_id, qty, id);

CREATE INDEX IF NOT EXISTS stocks_reorder_idx ON stocks (company_id, product_id) WHERE reorder_point > 0;

CREATE INDEX IF NOT EXISTS stock_movements_product_created_idx ON stock_movements (company_id, product_id, created_at, id);

CREATE INDEX IF NOT EXISTS stock_movements_warehouse_created_idx ON stock_movements (company_id, warehouse_id, created_at, id);

CREATE INDEX IF NOT EXISTS stock_movements_type_created_idx ON stock_movements (company_id, type, created_at, id);
