CREATE INDEX IF NOT EXISTS leads_search_idx ON leads USING GIN (company_id, search_text gin_trgm_ops);
