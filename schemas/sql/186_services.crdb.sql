CREATE INDEX IF NOT EXISTS services_search_idx ON services USING GIN (company_id, search_text gin_trgm_ops);
