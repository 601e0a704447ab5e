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
