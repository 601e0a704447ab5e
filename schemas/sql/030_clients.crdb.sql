CREATE INDEX IF NOT EXISTS clients_search_idx ON clients USING GIN (company_id, search_text gin_trgm_ops);

CREATE INDEX IF NOT EXISTS clients_tags_idx ON clients USING GIN (company_id, tags);
