-- The way of an event: the request that caused it, the trace of that, and when Kafka had accepted it.
ALTER TABLE outbox ADD COLUMN IF NOT EXISTS request_id TEXT NOT NULL DEFAULT '';

ALTER TABLE events ADD COLUMN IF NOT EXISTS request_id TEXT;

ALTER TABLE events ADD COLUMN IF NOT EXISTS traceparent TEXT;

ALTER TABLE events ADD COLUMN IF NOT EXISTS published_at TIMESTAMPTZ;
