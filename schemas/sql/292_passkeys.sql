-- Passkeys, by which people sign in to the console without a password.
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
