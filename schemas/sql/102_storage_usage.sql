-- How many bytes each company keeps, by kind and by the day on which they expire.
CREATE TABLE IF NOT EXISTS storage_usage (
    company_id UUID NOT NULL,
    kind       TEXT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    bytes      BIGINT NOT NULL,
    CONSTRAINT storage_usage_pkey PRIMARY KEY (company_id, kind, expires_at)
);

-- The last event that was removed from the log before its time, because the company was above its quota.
CREATE TABLE IF NOT EXISTS event_log_floors (
    company_id  UUID NOT NULL,
    seq         BIGINT NOT NULL,
    occurred_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT event_log_floors_pkey PRIMARY KEY (company_id)
);
