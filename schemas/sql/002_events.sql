-- Events: the outbox that relays publish to Kafka, and the log of what was published.

-- An event that Kafka has not acknowledged yet, inserted in the transaction of its change. The relay that leases the bucket
-- publishes and deletes it.
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
    request_id  TEXT NOT NULL DEFAULT '', -- of the request that caused it
    traceparent TEXT NOT NULL,
    tracestate  TEXT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT outbox_pkey PRIMARY KEY (bucket, pos, id)
);

-- An event that Kafka rejects permanently, for operators to inspect.
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

-- A bucket of the outbox, and the relay that works on it.
CREATE TABLE IF NOT EXISTS outbox_leases (
    bucket     INT4 NOT NULL,
    owner      TEXT NOT NULL,
    epoch      BIGINT NOT NULL,
    -- How many partitions of the topic of events the companies of the bucket are spread over; NULL = not known. It follows the
    -- topic when partitions are added, once the routers have processed what was published before.
    partitions INT4,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT outbox_leases_pkey PRIMARY KEY (bucket)
);

INSERT INTO outbox_leases (bucket, owner, epoch, expires_at)
SELECT b, '', 0, TIMESTAMPTZ '2000-01-01 00:00:00Z' FROM generate_series(0, 255) AS b
ON CONFLICT (bucket) DO NOTHING;

-- A live relay, also one without buckets: their number determines the fair share of each.
CREATE TABLE IF NOT EXISTS relay_members (
    node       TEXT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT relay_members_pkey PRIMARY KEY (node)
);

-- ---- The event log ----

-- The last position assigned in the event log of a bucket. It is updated in the transaction that writes the log, so positions
-- become visible in order and cursors skip no events.
CREATE TABLE IF NOT EXISTS event_log_heads (
    bucket INT4 NOT NULL,
    n      BIGINT NOT NULL,
    CONSTRAINT event_log_heads_pkey PRIMARY KEY (bucket)
);

INSERT INTO event_log_heads (bucket, n) SELECT b, 0 FROM generate_series(0, 255) AS b
ON CONFLICT (bucket) DO NOTHING;

-- The epoch of the event log, in one row. Positions are counters, which a restore of the database from a backup sets back, so
-- that they are assigned again, to other events. A new epoch begins then, and cursors of other epochs are refused.
CREATE TABLE IF NOT EXISTS event_log_epoch (
    id       INT4 NOT NULL,
    epoch    BIGINT NOT NULL,
    began_at TIMESTAMPTZ NOT NULL,
    cause    TEXT NOT NULL,
    CONSTRAINT event_log_epoch_pkey PRIMARY KEY (id),
    CONSTRAINT event_log_epoch_single CHECK (id = 1)
);

INSERT INTO event_log_epoch (id, epoch, began_at, cause) VALUES (1, 0, TIMESTAMPTZ '2000-01-01 00:00:00Z', '')
ON CONFLICT (id) DO NOTHING;

-- An event that was published in the last 30 days, for GET /events, redelivery and replay.
CREATE TABLE IF NOT EXISTS events (
    company_id   UUID NOT NULL,
    seq          BIGINT NOT NULL,
    id           UUID NOT NULL,
    event        TEXT NOT NULL,
    agg_type     TEXT NOT NULL,
    agg_id       UUID NOT NULL,
    agg_version  BIGINT NOT NULL,
    request_id   TEXT, -- of the request that caused it
    traceparent  TEXT, -- of that request
    body         BYTEA NOT NULL,
    occurred_at  TIMESTAMPTZ NOT NULL,
    published_at TIMESTAMPTZ, -- when Kafka had accepted it
    expires_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT events_pkey PRIMARY KEY (company_id, seq)
);

CREATE UNIQUE INDEX IF NOT EXISTS events_id_key ON events (company_id, id);
CREATE INDEX IF NOT EXISTS events_agg_idx ON events (company_id, agg_id, seq);

-- The last event of a company that was removed from the log before its time, because the company was above its quota.
CREATE TABLE IF NOT EXISTS event_log_floors (
    company_id  UUID NOT NULL,
    seq         BIGINT NOT NULL,
    occurred_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT event_log_floors_pkey PRIMARY KEY (company_id)
);
