CREATE INDEX IF NOT EXISTS products_search_idx ON products USING GIN (company_id, search_text gin_trgm_ops);
