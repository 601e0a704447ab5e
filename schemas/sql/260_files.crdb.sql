CREATE INDEX IF NOT EXISTS files_search_idx ON files USING GIN (company_id, search_text gin_trgm_ops);
