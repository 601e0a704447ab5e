-- Tables shared by all domains: document numbers, stored responses, the outbox and the event log.

-- One row per company and kind of document; n is the last number assigned.
CREATE TABLE IF NOT EXISTS counters (
    company_id UUID NOT NULL,
    kind       TEXT NOT NULL,
    n          BIGINT NOT NULL,
    CONSTRAINT counters_pkey PRIMARY KEY (company_id, kind)
);

-- state: 0 = in flight under a lease, 1 = done, response stored.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    company_id  UUID NOT NULL,
    key         UUID NOT NULL,
    fingerprint BYTEA NOT NULL,
    state       SMALLINT NOT NULL,
    lease_id    UUID NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL,
    status      INT4,
    headers     JSONB,
    body        BYTEA,
    expires_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (company_id, key)
);

-- Markers that prove the commit of transactions without another commit check.
CREATE TABLE IF NOT EXISTS tx_markers (
    id         UUID NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT tx_markers_pkey PRIMARY KEY (id)
);

-- A row exists until Kafka has acknowledged it.
CREATE TABLE IF NOT EXISTS outbox (
    bucket      INT4 NOT NULL,
    pos         BIGINT NOT NULL,
    id          UUID NOT NULL,
    company_id  UUID NOT NULL,
    topic       TEXT NOT NULL,
    key         TEXT NOT NULL,
    event       TEXT NOT NULL,
    agg_type    TEXT NOT NULL,
    agg_id      UUID NOT NULL,
    agg_version BIGINT NOT NULL,
    payload     BYTEA NOT NULL,
    traceparent TEXT NOT NULL,
    tracestate  TEXT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT outbox_pkey PRIMARY KEY (bucket, pos, id)
);

-- Rows that Kafka rejects permanently, for operators to inspect.
CREATE TABLE IF NOT EXISTS outbox_dead (
    bucket      INT4 NOT NULL,
    pos         BIGINT NOT NULL,
    id          UUID NOT NULL,
    company_id  UUID NOT NULL,
    topic       TEXT NOT NULL,
    key         TEXT NOT NULL,
    event       TEXT NOT NULL,
    agg_type    TEXT NOT NULL,
    agg_id      UUID NOT NULL,
    agg_version BIGINT NOT NULL,
    payload     BYTEA NOT NULL,
    traceparent TEXT NOT NULL,
    tracestate  TEXT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    error       TEXT NOT NULL,
    failed_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT outbox_dead_pkey PRIMARY KEY (bucket, pos, id)
);

CREATE TABLE IF NOT EXISTS outbox_leases (
    bucket     INT4 NOT NULL,
    owner      TEXT NOT NULL,
    epoch      BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT outbox_leases_pkey PRIMARY KEY (bucket)
);

INSERT INTO outbox_leases (bucket, owner, epoch, expires_at)
SELECT b, '', 0, TIMESTAMPTZ '2000-01-01 00:00:00Z' FROM generate_series(0, 255) AS b
ON CONFLICT (bucket) DO NOTHING;

-- The last position assigned in the event log of a bucket. It is updated in the transaction that writes the log, so
-- positions become visible in order and cursors skip no events.
CREATE TABLE IF NOT EXISTS event_log_heads (
    bucket INT4 NOT NULL,
    n      BIGINT NOT NULL,
    CONSTRAINT event_log_heads_pkey PRIMARY KEY (bucket)
);

INSERT INTO event_log_heads (bucket, n) SELECT b, 0 FROM generate_series(0, 255) AS b
ON CONFLICT (bucket) DO NOTHING;

-- Every published event of the last 30 days, for GET /events, redelivery and replay.
CREATE TABLE IF NOT EXISTS events (
    company_id  UUID NOT NULL,
    seq         BIGINT NOT NULL,
    id          UUID NOT NULL,
    event       TEXT NOT NULL,
    agg_type    TEXT NOT NULL,
    agg_id      UUID NOT NULL,
    agg_version BIGINT NOT NULL,
    body        BYTEA NOT NULL,
    occurred_at TIMESTAMPTZ NOT NULL,
    expires_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT events_pkey PRIMARY KEY (company_id, seq)
);

CREATE UNIQUE INDEX IF NOT EXISTS events_id_key ON events (company_id, id);

CREATE INDEX IF NOT EXISTS events_agg_idx ON events (company_id, agg_id, seq);

-- The share of a node in the rate limit of a token that is used on several nodes.
CREATE TABLE IF NOT EXISTS rate_leases (
    company_id UUID NOT NULL,
    token_id   UUID NOT NULL,
    node       TEXT NOT NULL,
    demand     BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT rate_leases_pkey PRIMARY KEY (company_id, token_id, node)
);
