-- The platform: companies, the people and tokens that act for them, and what they have done.

-- A company: the tenant of the rows that have its id. Plans are declared in Go, so that a new one needs no migration.
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
    tax_mode           TEXT NOT NULL DEFAULT 'included', -- of new documents, as tax_rounding
    tax_rounding       TEXT NOT NULL DEFAULT 'line',
    backdate_days      INT4 NOT NULL DEFAULT 7,
    booking_url            TEXT, -- of the links by which customers reach their bookings; NULL = there are none
    booking_change_minutes INT4 NOT NULL DEFAULT 1440,
    booking_mails          BOOLEAN NOT NULL DEFAULT FALSE,
    booking_reminders      INT4[] NOT NULL DEFAULT ARRAY[]::INT4[], -- minutes before the start of a booking
    document_name          TEXT, -- of the company on printed documents, as the fields below; NULL = its name
    document_address       TEXT,
    document_contact       TEXT,
    document_tax_id        TEXT,
    document_bank          TEXT,
    document_footer        TEXT,
    document_mail          TEXT, -- text of e-mails that carry documents
    document_paper         TEXT NOT NULL DEFAULT 'a4',
    document_logo_id       UUID,
    locale             TEXT NOT NULL DEFAULT 'en', -- language and region in which the company addresses its clients, a BCP 47 tag
    time_zone          TEXT NOT NULL,
    max_in_flight      INT4,
    version            BIGINT NOT NULL,
    ev_pos             BIGINT NOT NULL,
    created_at         TIMESTAMPTZ NOT NULL,
    updated_at         TIMESTAMPTZ NOT NULL,
    archived_at        TIMESTAMPTZ,
    CONSTRAINT companies_pkey PRIMARY KEY (id),
    CONSTRAINT companies_status_chk CHECK (status IN ('active', 'archived')),
    CONSTRAINT companies_stock_policy_chk CHECK (stock_policy IN ('allow_negative', 'block')),
    CONSTRAINT companies_tax_mode_chk CHECK (tax_mode IN ('included', 'added')),
    CONSTRAINT companies_tax_rounding_chk CHECK (tax_rounding IN ('line', 'document'))
);

CREATE INDEX IF NOT EXISTS companies_search_idx ON companies USING GIN (search_text gin_trgm_ops);
CREATE INDEX IF NOT EXISTS companies_created_idx ON companies (created_at, id);
CREATE INDEX IF NOT EXISTS companies_updated_idx ON companies (updated_at, id);
CREATE INDEX IF NOT EXISTS companies_name_und_idx ON companies ((name COLLATE und), id);

-- Whether a company uses a component. Components are declared in Go.
CREATE TABLE IF NOT EXISTS company_components (
    company_id UUID NOT NULL,
    component  TEXT NOT NULL,
    enabled    BOOLEAN NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT company_components_pkey PRIMARY KEY (company_id, component)
);

-- A branch of a company. One of them is the default.
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

-- A member of a company, or the technical user that is the actor of the changes made with a token.
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

-- An API token of a company, without its secret. rate_… columns are set only for the custom tier; 0 = unlimited.
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

CREATE INDEX IF NOT EXISTS tokens_expires_idx ON tokens (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;

-- A secret of a token, as its SHA-256. expires_at is set on a secret that a rotation has replaced. The hash is the key, because
-- nothing else is known about a caller at that point.
CREATE TABLE IF NOT EXISTS token_secrets (
    hash       BYTEA NOT NULL,
    company_id UUID NOT NULL,
    token_id   UUID NOT NULL,
    expires_at TIMESTAMPTZ,
    CONSTRAINT token_secrets_pkey PRIMARY KEY (hash)
);

CREATE INDEX IF NOT EXISTS token_secrets_token_idx ON token_secrets (company_id, token_id);

-- ---- Accounts: how people sign in to the console ----

-- The credentials of a user.
CREATE TABLE IF NOT EXISTS accounts (
    company_id    UUID NOT NULL,
    user_id       UUID NOT NULL,
    email         TEXT NOT NULL, -- in lower case; unique over all companies, because it is what people sign in with
    password_hash TEXT, -- argon2id; null = none was set
    totp_secret   TEXT, -- sealed; null = no second factor
    totp_step     BIGINT NOT NULL, -- of the last code that was taken: none works twice
    recovery      TEXT[] NOT NULL, -- SHA-256 of the recovery codes that are left
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT accounts_pkey PRIMARY KEY (company_id, user_id)
);

CREATE UNIQUE INDEX IF NOT EXISTS accounts_email_key ON accounts (email);

-- Who a user is at an OpenID Connect provider. The subject is bound at the first sign-in.
CREATE TABLE IF NOT EXISTS account_identities (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    user_id    UUID NOT NULL,
    issuer     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    email      TEXT NOT NULL, -- that the provider named when it was bound
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT account_identities_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS account_identities_subject_key ON account_identities (issuer, subject);
CREATE UNIQUE INDEX IF NOT EXISTS account_identities_user_key ON account_identities (company_id, user_id, issuer);

-- A passkey, by which a user signs in without a password.
CREATE TABLE IF NOT EXISTS passkeys (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    user_id    UUID NOT NULL,
    hash       BYTEA NOT NULL, -- SHA-256 of the id of the credential
    name       TEXT NOT NULL,
    credential TEXT NOT NULL, -- sealed: id, public key and flags
    counter    BIGINT NOT NULL, -- of signatures, as the authenticator reported it last; 0 = it does not count
    copied_at  TIMESTAMPTZ, -- the counter went back, so that somebody may have copied the key; it lets nobody in
    created_at TIMESTAMPTZ NOT NULL,
    used_at    TIMESTAMPTZ,
    CONSTRAINT passkeys_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS passkeys_hash_key ON passkeys (hash);
CREATE INDEX IF NOT EXISTS passkeys_user_idx ON passkeys (company_id, user_id, id);

-- A link in a mail that works once. An invitation claims its address for the company only when it is accepted.
CREATE TABLE IF NOT EXISTS account_links (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    user_id    UUID NOT NULL,
    kind       TEXT NOT NULL,
    email      TEXT NOT NULL DEFAULT '', -- in lower case; '' = that of the account
    hash       BYTEA NOT NULL, -- SHA-256 of the secret part of the link
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT account_links_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT account_links_kind_chk CHECK (kind IN ('invitation', 'reset', 'sign_in'))
);

CREATE UNIQUE INDEX IF NOT EXISTS account_links_hash_key ON account_links (hash);
CREATE INDEX IF NOT EXISTS account_links_user_idx ON account_links (company_id, user_id, id);
CREATE INDEX IF NOT EXISTS account_links_email_idx ON account_links (email) WHERE email <> '';

-- A session of a browser. Sessions of operators have the zero company and user.
CREATE TABLE IF NOT EXISTS sessions (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    user_id    UUID NOT NULL,
    hash       BYTEA NOT NULL, -- SHA-256 of the cookie
    stage      TEXT NOT NULL, -- code = the password was right, the second factor is missing
    operator   TEXT NOT NULL, -- fingerprint of the operator's token; '' = a user
    address    TEXT NOT NULL,
    agent      TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    seen_at    TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT sessions_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT sessions_stage_chk CHECK (stage IN ('code', 'full'))
);

CREATE UNIQUE INDEX IF NOT EXISTS sessions_hash_key ON sessions (hash);
CREATE INDEX IF NOT EXISTS sessions_user_idx ON sessions (company_id, user_id, id);

-- A token bucket for attempts to sign in, by its theoretical arrival time. It belongs to the platform: an attempt has no company
-- yet.
CREATE TABLE IF NOT EXISTS sign_in_limits (
    key        TEXT NOT NULL,
    arrival    TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT sign_in_limits_pkey PRIMARY KEY (key)
);

-- A view of a list that a user has saved under a name: its filters, columns and order.
CREATE TABLE IF NOT EXISTS console_views (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    user_id    UUID NOT NULL, -- who saved it
    list       TEXT NOT NULL,
    name       TEXT NOT NULL,
    query      TEXT NOT NULL, -- of the address
    shared     BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT console_views_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS console_views_list_idx ON console_views (company_id, list, id);
CREATE INDEX IF NOT EXISTS console_views_user_idx ON console_views (company_id, user_id, id);

-- ---- Records of what was done ----

-- A change that an operator made through the admin API, or a user in the console, with what the record was before and after. The
-- table belongs to the platform, not to a company.
CREATE TABLE IF NOT EXISTS admin_changes (
    id         UUID NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    operator   TEXT NOT NULL,
    user_id    UUID, -- who made it in the console; NULL = an operator
    operation  TEXT NOT NULL,
    of_company UUID,
    entity_id  TEXT,
    entity_name TEXT,
    request_id TEXT NOT NULL,
    body       TEXT,
    before     TEXT,
    after      TEXT,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT admin_changes_pkey PRIMARY KEY (id)
);

CREATE INDEX IF NOT EXISTS admin_changes_created_idx ON admin_changes (created_at, id);
CREATE INDEX IF NOT EXISTS admin_changes_company_idx ON admin_changes (of_company, created_at, id);

-- One of the last requests with the tokens of a company. Several processes write them in batches, some time after the requests.
-- Rows are never changed.
CREATE TABLE IF NOT EXISTS api_requests (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL, -- begins with the time of the request
    request_id  TEXT, -- that the client chose; NULL = the id
    created_at  TIMESTAMPTZ NOT NULL,
    method      TEXT NOT NULL,
    route       TEXT NOT NULL,
    operation   TEXT NOT NULL,
    scope       TEXT NOT NULL, -- resource whose scope opens the operation; '' = every token may call it
    path        TEXT NOT NULL,
    status      INT4 NOT NULL,
    code        TEXT,
    duration_ms INT4 NOT NULL,
    token_id    UUID NOT NULL,
    token_name  TEXT NOT NULL,
    address     TEXT NOT NULL,
    entity_id   UUID,
    represents  BIGINT NOT NULL,
    error       BYTEA,
    body        BYTEA,
    body_bytes  INT4 NOT NULL,
    CONSTRAINT api_requests_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS api_requests_refused_idx ON api_requests (company_id, id) WHERE status >= 400;
CREATE INDEX IF NOT EXISTS api_requests_refused_entity_idx ON api_requests (company_id, entity_id, id) WHERE status >= 400 AND entity_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS api_requests_chosen_idx ON api_requests (company_id, request_id, id) WHERE request_id IS NOT NULL;
