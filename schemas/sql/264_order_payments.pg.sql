CREATE INDEX IF NOT EXISTS order_payments_metadata_idx ON order_payments USING GIN (company_id, metadata jsonb_path_ops) WHERE metadata <> '{}';

-- Most payments have no text. A search names the condition.
CREATE INDEX IF NOT EXISTS order_payments_search_idx ON order_payments USING GIN (company_id, search_text gin_trgm_ops) WHERE search_text <> '';
