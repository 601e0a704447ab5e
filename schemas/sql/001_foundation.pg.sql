CREATE EXTENSION IF NOT EXISTS pg_trgm;

CREATE EXTENSION IF NOT EXISTS btree_gin;

ALTER TABLE outbox SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- For the cleanup of expired rows; CockroachDB uses row-level TTL and needs no index.
CREATE INDEX IF NOT EXISTS idempotency_keys_expires_idx ON idempotency_keys (expires_at);

CREATE INDEX IF NOT EXISTS tx_markers_expires_idx ON tx_markers (expires_at);

CREATE INDEX IF NOT EXISTS events_expires_idx ON events (expires_at);
