-- The outbox has constant inserts and deletes: dead rows must not accumulate.
ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX IF NOT EXISTS events_expires_idx ON events (expires_at);
