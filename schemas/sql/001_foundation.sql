-- What every domain stands on: document numbers, kept answers, the outbox and the event log.

-- One row per company and kind of document; the number of a document is n after it was taken.
CREATE TABLE IF NOT EXISTS counters (
    company_id UUID NOT NULL,
    kind       TEXT NOT NULL,
    n          BIGINT NOT NULL,
    CONSTRAINT counters_pkey PRIMARY KEY (company_id, kind)
);

-- state 0 = in flight under a lease, 1 = done with the stored answer.
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

-- Proof that a transaction without any other fact of its own was committed.
CREATE TABLE IF NOT EXISTS tx_markers (
    id         UUID NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT tx_markers_pkey PRIMARY KEY (id)
);

-- A row exists exactly as long as Kafka has not acknowledged it.
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

-- Rows that Kafka will never take; an operator looks at them.
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

-- The last position given out in the event log of a bucket. Taken by an UPDATE in the transaction that
-- writes the log, so positions become visible in their order and a reader's cursor skips nothing.
CREATE TABLE IF NOT EXISTS event_log_heads (
    bucket INT4 NOT NULL,
    n      BIGINT NOT NULL,
    CONSTRAINT event_log_heads_pkey PRIMARY KEY (bucket)
);

INSERT INTO event_log_heads (bucket, n) SELECT b, 0 FROM generate_series(0, 255) AS b
ON CONFLICT (bucket) DO NOTHING;

-- Every published event, for 30 days: what GET /events, redelivery and replay read.
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

-- A node's part of the budget of a token that several nodes see.
CREATE TABLE IF NOT EXISTS rate_leases (
    company_id UUID NOT NULL,
    token_id   UUID NOT NULL,
    node       TEXT NOT NULL,
    demand     BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT rate_leases_pkey PRIMARY KEY (company_id, token_id, node)
);
