-- Companies with their components, branches, users and API tokens.

-- plan and component names are declared in Go, so that a new one needs no migration.
CREATE TABLE IF NOT EXISTS companies (
    id                 UUID NOT NULL,
    name               TEXT NOT NULL,
    search_text        TEXT NOT NULL,
    status             TEXT NOT NULL,
    plan               TEXT NOT NULL,
    is_test            BOOLEAN NOT NULL,
    cell               TEXT NOT NULL,
    home_region        TEXT NOT NULL,
    currency           TEXT NOT NULL,
    country_prefix     TEXT NOT NULL,
    stock_policy       TEXT NOT NULL,
    accrual_percent_bp INT4 NOT NULL,
    time_zone          TEXT NOT NULL,
    max_in_flight      INT4,
    version            BIGINT NOT NULL,
    ev_pos             BIGINT NOT NULL,
    created_at         TIMESTAMPTZ NOT NULL,
    updated_at         TIMESTAMPTZ NOT NULL,
    archived_at        TIMESTAMPTZ,
    CONSTRAINT companies_pkey PRIMARY KEY (id),
    CONSTRAINT companies_status_chk CHECK (status IN ('active', 'archived')),
    CONSTRAINT companies_stock_policy_chk CHECK (stock_policy IN ('allow_negative', 'block'))
);

CREATE TABLE IF NOT EXISTS company_components (
    company_id UUID NOT NULL,
    component  TEXT NOT NULL,
    enabled    BOOLEAN NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT company_components_pkey PRIMARY KEY (company_id, component)
);

CREATE TABLE IF NOT EXISTS branches (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    name       TEXT NOT NULL,
    is_active  BOOLEAN NOT NULL,
    is_default BOOLEAN NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT branches_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS branches_default_key ON branches (company_id) WHERE is_default;

-- The technical user of a token is the actor of its changes.
CREATE TABLE IF NOT EXISTS users (
    company_id   UUID NOT NULL,
    id           UUID NOT NULL,
    name         TEXT,
    email        TEXT,
    status       TEXT NOT NULL,
    role         TEXT,
    is_technical BOOLEAN NOT NULL,
    version      BIGINT NOT NULL,
    ev_pos       BIGINT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT users_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT users_status_chk CHECK (status IN ('invited', 'active', 'blocked'))
);

CREATE UNIQUE INDEX IF NOT EXISTS users_email_key ON users (company_id, email) WHERE email IS NOT NULL;

-- rate_… columns are set only for the custom tier; 0 = unlimited.
CREATE TABLE IF NOT EXISTS tokens (
    company_id        UUID NOT NULL,
    id                UUID NOT NULL,
    name              TEXT NOT NULL,
    prefix            TEXT NOT NULL,
    scopes            TEXT[] NOT NULL,
    actor_id          UUID NOT NULL,
    expires_at        TIMESTAMPTZ,
    ip_allowlist      TEXT[] NOT NULL,
    rate_tier         TEXT NOT NULL,
    rate_refill_milli BIGINT NOT NULL,
    rate_burst        INT4 NOT NULL,
    rate_in_flight    INT4 NOT NULL,
    last_used_at      TIMESTAMPTZ,
    created_by_id     UUID,
    revoked_at        TIMESTAMPTZ,
    version           BIGINT NOT NULL,
    ev_pos            BIGINT NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    CONSTRAINT tokens_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT tokens_rate_tier_chk CHECK (rate_tier IN ('standard', 'high', 'custom'))
);

-- Secrets are stored as SHA-256 hashes. expires_at is set on a secret that was replaced by a rotation.
-- The hash is the key, because nothing else is known about a caller at that point.
CREATE TABLE IF NOT EXISTS token_secrets (
    hash       BYTEA NOT NULL,
    company_id UUID NOT NULL,
    token_id   UUID NOT NULL,
    expires_at TIMESTAMPTZ,
    CONSTRAINT token_secrets_pkey PRIMARY KEY (hash)
);

CREATE INDEX IF NOT EXISTS token_secrets_token_idx ON token_secrets (company_id, token_id);

CREATE INDEX IF NOT EXISTS companies_search_idx ON companies USING GIN (search_text gin_trgm_ops);
