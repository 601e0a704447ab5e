CREATE INDEX IF NOT EXISTS scheduling_resources_search_idx ON scheduling_resources USING GIN (company_id, search_text gin_trgm_ops);

CREATE INDEX IF NOT EXISTS bookings_search_idx ON bookings USING GIN (company_id, search_text gin_trgm_ops);
