-- What the indexes of the files that follow need: trigrams, GIN indexes that begin with the company, and the Unicode root
-- collation under CockroachDB's name for it.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;
CREATE COLLATION IF NOT EXISTS und (provider = icu, locale = 'und');

-- For the cleanup of expired rows, here and in the other rooms; CockroachDB uses row-level TTL and needs no index.
CREATE INDEX IF NOT EXISTS idempotency_keys_expires_idx ON idempotency_keys (expires_at);
CREATE INDEX IF NOT EXISTS tx_markers_expires_idx ON tx_markers (expires_at);
CREATE INDEX IF NOT EXISTS storage_usage_expires_idx ON storage_usage (expires_at);
CREATE INDEX IF NOT EXISTS jobs_expires_idx ON jobs (expires_at);
CREATE INDEX IF NOT EXISTS job_inputs_expires_idx ON job_inputs (expires_at);
CREATE INDEX IF NOT EXISTS job_chunks_expires_idx ON job_chunks (expires_at);
CREATE INDEX IF NOT EXISTS notices_expires_idx ON notices (expires_at);
