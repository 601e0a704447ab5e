CREATE INDEX IF NOT EXISTS product_variants_search_idx ON product_variants USING GIN (company_id, search_text gin_trgm_ops);
