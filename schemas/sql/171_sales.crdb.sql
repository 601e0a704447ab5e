CREATE INDEX IF NOT EXISTS sales_search_idx ON sales USING GIN (company_id, search_text gin_trgm_ops);
