-- Delivery: webhook subscriptions, their deliveries, and how far the routers are.

-- A receiver of events, and what it is to get.
CREATE TABLE IF NOT EXISTS webhook_subscriptions (
    company_id         UUID NOT NULL,
    id                 UUID NOT NULL,
    name               TEXT,
    url                TEXT NOT NULL,
    events             TEXT[] NOT NULL,
    filter             JSONB,
    is_active          BOOLEAN NOT NULL,
    status             TEXT NOT NULL,
    disabled_reason    TEXT,
    exclude_own_events BOOLEAN NOT NULL,
    auto_redeliver     BOOLEAN NOT NULL DEFAULT true, -- whether deliveries that failed while the receiver was down are sent again when it is back
    ordered            BOOLEAN NOT NULL DEFAULT false, -- the deliveries of a record wait for each other
    read_scopes        TEXT[] NOT NULL,
    secret             TEXT NOT NULL,
    previous_secret    TEXT,
    previous_until     TIMESTAMPTZ,
    headers            TEXT NOT NULL DEFAULT '', -- that are added to its requests: encrypted, followed by their names in clear; empty = none
    max_per_second     INT4, -- requests that the receiver gets at most; NULL = as many as it takes
    client_certificate TEXT NOT NULL DEFAULT '', -- chain with which the platform identifies itself to the receiver, in PEM; empty = none
    client_key         TEXT NOT NULL DEFAULT '', -- encrypted
    breaker_open_until TIMESTAMPTZ,
    breaker_opens      INT4 NOT NULL DEFAULT 0,
    last_success_at    TIMESTAMPTZ,
    last_failure_at    TIMESTAMPTZ,
    created_by_id      UUID NOT NULL,
    enabled_at         TIMESTAMPTZ, -- when it was enabled again after it was disabled: earlier failures no longer count
    failing_since      TIMESTAMPTZ, -- first failed attempt since the last success; NULL while that is short ago. The sender writes it
    -- Set by the sender at the first success after an outage, to the beginning of the outage; cleared by the sweeper when it has
    -- sent what waited for the receiver.
    recovered_from     TIMESTAMPTZ,
    gone_since         TIMESTAMPTZ, -- since when the receiver has answered every attempt with 410 Gone; NULL = the last one ended otherwise
    version            BIGINT NOT NULL,
    ev_pos             BIGINT NOT NULL,
    created_at         TIMESTAMPTZ NOT NULL,
    updated_at         TIMESTAMPTZ NOT NULL,
    CONSTRAINT webhook_subscriptions_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT webhook_subscriptions_status_chk CHECK (status IN ('active', 'paused', 'disabled'))
);

CREATE INDEX IF NOT EXISTS webhook_subscriptions_created_idx ON webhook_subscriptions (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS webhook_subscriptions_recovered_idx ON webhook_subscriptions (company_id, id) WHERE recovered_from IS NOT NULL;
CREATE INDEX IF NOT EXISTS webhook_subscriptions_failing_idx ON webhook_subscriptions (failing_since) WHERE failing_since IS NOT NULL;

-- What a subscription was before a change: tells why an event was not delivered then. The last 100 versions of each are kept.
CREATE TABLE IF NOT EXISTS webhook_subscription_versions (
    company_id         UUID NOT NULL,
    subscription_id    UUID NOT NULL,
    version            BIGINT NOT NULL,
    valid_from         TIMESTAMPTZ NOT NULL,
    status             TEXT NOT NULL,
    events             TEXT[] NOT NULL,
    filter             JSONB,
    exclude_own_events BOOLEAN NOT NULL,
    read_scopes        TEXT[] NOT NULL,
    CONSTRAINT webhook_subscription_versions_pkey PRIMARY KEY (company_id, subscription_id, version)
);

-- A company with subscriptions: locked while they are counted and compared.
CREATE TABLE IF NOT EXISTS webhook_companies (
    company_id UUID NOT NULL,
    changes    BIGINT NOT NULL,
    CONSTRAINT webhook_companies_pkey PRIMARY KEY (company_id)
);

-- An event for a subscription. state: 0 pending, 1 delivering, 2 success, 3 failed. payload is set only where the event log has
-- no body (test messages).
CREATE TABLE IF NOT EXISTS deliveries (
    company_id      UUID NOT NULL,
    subscription_id UUID NOT NULL,
    id              UUID NOT NULL,
    event_id        UUID NOT NULL,
    entity_id       UUID, -- only of ordered subscriptions, as entity_version
    entity_version  BIGINT,
    event           TEXT NOT NULL,
    state           SMALLINT NOT NULL,
    attempt         SMALLINT NOT NULL,
    next_attempt_at TIMESTAMPTZ,
    expires_at      TIMESTAMPTZ NOT NULL,
    waiting_for     TEXT, -- what an open delivery waits for; NULL = nothing, it is on its way. The sender writes it with its results
    http_code       INT4,
    response_body   BYTEA,
    error           TEXT,
    duration_ms     INT4,
    is_test         BOOLEAN NOT NULL,
    redelivery_of   UUID,
    redelivery_no   INT4 NOT NULL DEFAULT 0, -- redeliveries of one event to one subscription are numbered from 1; their ids are derived from the number
    payload         BYTEA,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    completed_at    TIMESTAMPTZ,
    CONSTRAINT deliveries_pkey PRIMARY KEY (company_id, subscription_id, id)
);

CREATE INDEX IF NOT EXISTS deliveries_open_idx ON deliveries (company_id, subscription_id, id) WHERE state < 2;
-- The history by time reads ids, which hold the time of the event, and these rows, which are younger than their event.
CREATE INDEX IF NOT EXISTS deliveries_again_idx ON deliveries (company_id, subscription_id, created_at, id) WHERE redelivery_no > 0;
CREATE INDEX IF NOT EXISTS deliveries_failed_idx ON deliveries (company_id, subscription_id, id) WHERE state = 3;
-- Running attempts that take long enough to be shown; few at any time.
CREATE INDEX IF NOT EXISTS deliveries_delivering_idx ON deliveries (company_id, subscription_id, id) WHERE state = 1;
CREATE INDEX IF NOT EXISTS deliveries_ordered_idx ON deliveries (company_id, subscription_id, entity_id, entity_version, event_id) WHERE entity_id IS NOT NULL AND completed_at IS NULL;

-- One of the last 100 attempts of a subscription, which take turns in 100 rows.
CREATE TABLE IF NOT EXISTS delivery_attempts (
    company_id      UUID NOT NULL,
    subscription_id UUID NOT NULL,
    ring            SMALLINT NOT NULL,
    seq             BIGINT NOT NULL,
    delivery_id     UUID NOT NULL,
    attempt         SMALLINT NOT NULL,
    http_code       INT4,
    response_body   BYTEA,
    error           TEXT,
    duration_ms     INT4 NOT NULL,
    started_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT delivery_attempts_pkey PRIMARY KEY (company_id, subscription_id, ring)
);

-- How far the routers of a consumer group have processed the events, by the event log and by topic. The reconciler compares it
-- with the topic and publishes events again that the topic lost before the routers had them.
CREATE TABLE IF NOT EXISTS router_progress (
    consumer_group TEXT NOT NULL,
    topic_id       UUID NOT NULL,
    offsets        BIGINT[] NOT NULL, -- next offset to process, by partition
    heads          BIGINT[] NOT NULL, -- last position of the event log that is processed, by bucket
    lost_at        TIMESTAMPTZ, -- when a loss was found whose events are still being published again
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT router_progress_pkey PRIMARY KEY (consumer_group)
);
