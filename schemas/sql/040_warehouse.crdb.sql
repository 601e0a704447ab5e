CREATE INDEX IF NOT EXISTS warehouses_search_idx ON warehouses USING GIN (company_id, search_text gin_trgm_ops);
