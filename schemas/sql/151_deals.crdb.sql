CREATE INDEX IF NOT EXISTS deals_search_idx ON deals USING GIN (company_id, search_text gin_trgm_ops);
