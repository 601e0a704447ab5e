CREATE INDEX IF NOT EXISTS orders_search_idx ON orders USING GIN (company_id, search_text gin_trgm_ops);
