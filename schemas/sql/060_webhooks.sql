-- Webhook subscriptions, their deliveries, and the last attempts of each.

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
    read_scopes        TEXT[] NOT NULL,
    secret             TEXT NOT NULL,
    previous_secret    TEXT,
    previous_until     TIMESTAMPTZ,
    breaker_open_until TIMESTAMPTZ,
    breaker_opens      INT4 NOT NULL DEFAULT 0,
    last_success_at    TIMESTAMPTZ,
    last_failure_at    TIMESTAMPTZ,
    created_by_id      UUID NOT NULL,
    version            BIGINT NOT NULL,
    ev_pos             BIGINT NOT NULL,
    created_at         TIMESTAMPTZ NOT NULL,
    updated_at         TIMESTAMPTZ NOT NULL,
    CONSTRAINT webhook_subscriptions_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT webhook_subscriptions_status_chk CHECK (status IN ('active', 'paused', 'disabled'))
);

CREATE INDEX IF NOT EXISTS webhook_subscriptions_created_idx ON webhook_subscriptions (company_id, created_at, id);

-- state: 0 pending, 1 delivering, 2 success, 3 failed. payload is set only where the event log has no body (test messages).
CREATE TABLE IF NOT EXISTS deliveries (
    company_id      UUID NOT NULL,
    subscription_id UUID NOT NULL,
    id              UUID NOT NULL,
    event_id        UUID NOT NULL,
    event           TEXT NOT NULL,
    state           SMALLINT NOT NULL,
    attempt         SMALLINT NOT NULL,
    next_attempt_at TIMESTAMPTZ,
    expires_at      TIMESTAMPTZ NOT NULL,
    http_code       INT4,
    response_body   BYTEA,
    error           TEXT,
    duration_ms     INT4,
    is_test         BOOLEAN NOT NULL,
    redelivery_of   UUID,
    payload         BYTEA,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    completed_at    TIMESTAMPTZ,
    CONSTRAINT deliveries_pkey PRIMARY KEY (company_id, subscription_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS deliveries_id_key ON deliveries (company_id, id);

CREATE INDEX IF NOT EXISTS deliveries_open_idx ON deliveries (company_id, subscription_id, id) WHERE state < 2;

-- Ring buffer of the last 100 attempts of a subscription.
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

-- Locked per company while its subscriptions are counted and compared.
CREATE TABLE IF NOT EXISTS webhook_companies (
    company_id UUID NOT NULL,
    changes    BIGINT NOT NULL,
    CONSTRAINT webhook_companies_pkey PRIMARY KEY (company_id)
);

-- When a disabled subscription was enabled again: earlier failures no longer count.
ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS enabled_at TIMESTAMPTZ;

-- Redeliveries of one event to one subscription are numbered from 1; their ids are derived from the number.
ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS redelivery_no INT4 NOT NULL DEFAULT 0;

-- The history by time reads ids, which hold the time of the event, and these rows, which are younger than their event.
CREATE INDEX IF NOT EXISTS deliveries_again_idx ON deliveries (company_id, subscription_id, created_at, id) WHERE redelivery_no > 0;

CREATE INDEX IF NOT EXISTS deliveries_failed_idx ON deliveries (company_id, subscription_id, id) WHERE state = 3;
