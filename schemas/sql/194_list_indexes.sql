-- Indexes for filters and sorts of large lists that had none.

CREATE INDEX IF NOT EXISTS orders_status_sort_idx ON orders (company_id, status, id);

CREATE INDEX IF NOT EXISTS orders_created_by_idx ON orders (company_id, created_by_id, created_at, id);

CREATE INDEX IF NOT EXISTS products_model_und_idx ON products (company_id, (model COLLATE und), id);

CREATE INDEX IF NOT EXISTS clients_status_idx ON clients (company_id, status, created_at, id);

CREATE INDEX IF NOT EXISTS deals_outcome_idx ON deals (company_id, outcome, created_at, id) WHERE outcome IS NOT NULL;

CREATE INDEX IF NOT EXISTS deals_address_idx ON deals (company_id, address_id, created_at, id) WHERE address_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS deals_source_idx ON deals (company_id, source_id, created_at, id) WHERE source_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS bookings_service_idx ON bookings (company_id, service_id, start_at, id) WHERE service_id IS NOT NULL;
