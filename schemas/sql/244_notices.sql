-- What owners of companies are told by e-mail: a row for each recipient, kept past the sending, so that nothing is told twice.
CREATE TABLE IF NOT EXISTS notices (
    company_id UUID NOT NULL,
    kind       TEXT NOT NULL, -- such as webhook.disabled
    record_id  UUID NOT NULL, -- what it is about
    since      TIMESTAMPTZ NOT NULL, -- the occasion
    recipient  TEXT NOT NULL, -- '' = the company has no owner with an address
    subject    TEXT NOT NULL,
    body       TEXT NOT NULL,
    status     TEXT NOT NULL,
    tries      INT4 NOT NULL,
    next_at    TIMESTAMPTZ NOT NULL, -- nobody sends it before
    error      TEXT, -- of the last try
    created_at TIMESTAMPTZ NOT NULL,
    ended_at   TIMESTAMPTZ,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT notices_pkey PRIMARY KEY (company_id, kind, record_id, since, recipient),
    CONSTRAINT notices_status_chk CHECK (status IN ('pending', 'sent', 'failed', 'suppressed', 'unaddressed'))
);

-- Few rows at any time.
CREATE INDEX IF NOT EXISTS notices_pending_idx ON notices (next_at) WHERE status = 'pending';

-- Counts what a company got lately.
CREATE INDEX IF NOT EXISTS notices_sent_idx ON notices (company_id, ended_at) WHERE status = 'sent';

CREATE INDEX IF NOT EXISTS tokens_expires_idx ON tokens (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS webhook_subscriptions_failing_idx ON webhook_subscriptions (failing_since) WHERE failing_since IS NOT NULL;
