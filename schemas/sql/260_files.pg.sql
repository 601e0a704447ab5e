CREATE INDEX IF NOT EXISTS files_search_idx ON files USING GIN (company_id, search_text gin_trgm_ops);

-- Images do not become smaller: compressing them would only take time.
ALTER TABLE file_chunks ALTER COLUMN body SET STORAGE EXTERNAL;
