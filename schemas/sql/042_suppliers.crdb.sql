CREATE INDEX IF NOT EXISTS suppliers_search_idx ON suppliers USING GIN (company_id, search_text gin_trgm_ops);
