-- Changes that operators made through the admin API. The table belongs to the platform, not to a company.
CREATE TABLE IF NOT EXISTS admin_changes (
    id         UUID NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    operator   TEXT NOT NULL,
    operation  TEXT NOT NULL,
    of_company UUID,
    entity_id  TEXT,
    request_id TEXT NOT NULL,
    body       TEXT,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT admin_changes_pkey PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS admin_changes_created_idx ON admin_changes (created_at, id);

CREATE INDEX IF NOT EXISTS admin_changes_company_idx ON admin_changes (of_company, created_at, id);
