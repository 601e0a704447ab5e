-- How people sign in to the console: credentials of users, their sessions, links that work once, limits of attempts.
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

-- Sessions of operators have the zero company and user.
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

CREATE TABLE IF NOT EXISTS account_links (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    user_id    UUID NOT NULL,
    kind       TEXT NOT NULL,
    hash       BYTEA NOT NULL, -- SHA-256 of the secret part of the link
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT account_links_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT account_links_kind_chk CHECK (kind IN ('invitation', 'reset', 'sign_in'))
);

CREATE UNIQUE INDEX IF NOT EXISTS account_links_hash_key ON account_links (hash);

CREATE INDEX IF NOT EXISTS account_links_user_idx ON account_links (company_id, user_id, id);

-- Token buckets, by their theoretical arrival time. The table belongs to the platform: an attempt has no company yet.
CREATE TABLE IF NOT EXISTS sign_in_limits (
    key        TEXT NOT NULL,
    arrival    TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT sign_in_limits_pkey PRIMARY KEY (key)
);
