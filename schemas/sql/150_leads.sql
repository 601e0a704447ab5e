-- Leads of a company.

-- search_text is computed in Go for search=.
CREATE TABLE IF NOT EXISTS leads (
    company_id     UUID NOT NULL,
    id             UUID NOT NULL,
    source         TEXT NOT NULL,
    channel        TEXT,
    name           TEXT,
    phone          TEXT,
    email          TEXT,
    message        TEXT,
    status         TEXT NOT NULL,
    external_id    TEXT,
    raw            JSONB,
    client_id      UUID,
    deal_id        UUID,
    assigned_to_id UUID,
    utm            JSONB,
    search_text    TEXT NOT NULL,
    version        BIGINT NOT NULL,
    ev_pos         BIGINT NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT leads_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT leads_status_chk CHECK (status IN ('new', 'in_progress', 'converted', 'spam'))
);

CREATE UNIQUE INDEX IF NOT EXISTS leads_external_key ON leads (company_id, source, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS leads_created_idx ON leads (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS leads_updated_idx ON leads (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS leads_status_idx ON leads (company_id, status, id);

CREATE INDEX IF NOT EXISTS leads_source_idx ON leads (company_id, source, created_at, id);

CREATE INDEX IF NOT EXISTS leads_assigned_idx ON leads (company_id, assigned_to_id, created_at, id);

-- The conversion of a lead looks for a client with its phone number, whose digits are compared, or e-mail address.
CREATE INDEX IF NOT EXISTS clients_phone_digits_idx ON clients (company_id, (regexp_replace(phone, '[^0-9]', '', 'g')), created_at, id) WHERE phone IS NOT NULL;

CREATE INDEX IF NOT EXISTS clients_email_idx ON clients (company_id, (lower(email)), created_at, id) WHERE email IS NOT NULL;
