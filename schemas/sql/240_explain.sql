-- What an open delivery waits for; NULL = nothing, it is on its way. The sender writes it with its results.
ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS waiting_for TEXT;

-- What subscriptions were before: tells why an event was not delivered then. The last 100 versions of each are kept.
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
