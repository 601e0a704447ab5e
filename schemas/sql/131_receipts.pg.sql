CREATE INDEX IF NOT EXISTS receipts_search_idx ON receipts USING GIN (company_id, search_text gin_trgm_ops);
