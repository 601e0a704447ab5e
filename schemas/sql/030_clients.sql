-- Clients of a company, their groups and price lists.

CREATE TABLE IF NOT EXISTS price_lists (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    name       TEXT NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT price_lists_pkey PRIMARY KEY (company_id, id)
);

CREATE TABLE IF NOT EXISTS client_groups (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    name          TEXT NOT NULL,
    price_list_id UUID,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_groups_pkey PRIMARY KEY (company_id, id)
);

-- search_text is computed in Go for search=. balance and points are maintained by the platform.
CREATE TABLE IF NOT EXISTS clients (
    company_id               UUID NOT NULL,
    id                       UUID NOT NULL,
    kind                     TEXT NOT NULL,
    display_name             TEXT NOT NULL,
    first_name               TEXT,
    last_name                TEXT,
    middle_name              TEXT,
    company_name             TEXT,
    "position"               TEXT,
    phone                    TEXT,
    email                    TEXT,
    telegram_chat_id         TEXT,
    whatsapp_phone           TEXT,
    inn                      TEXT,
    kpp                      TEXT,
    legal_address            TEXT,
    bank_details             TEXT,
    note                     TEXT,
    contract_number          TEXT,
    tags                     TEXT[] NOT NULL,
    birthday                 DATE,
    status                   TEXT NOT NULL,
    balance                  BIGINT NOT NULL,
    points                   BIGINT NOT NULL,
    group_id                 UUID,
    price_list_id            UUID,
    payment_terms_days       INT4,
    credit_limit             BIGINT NOT NULL,
    sla_hours                INT4,
    marketing_consent        BOOLEAN NOT NULL,
    marketing_consent_at     TIMESTAMPTZ,
    marketing_consent_source TEXT,
    anonymized_at            TIMESTAMPTZ,
    assigned_to_id           UUID,
    created_by_id            UUID NOT NULL,
    search_text              TEXT NOT NULL,
    version                  BIGINT NOT NULL,
    ev_pos                   BIGINT NOT NULL,
    created_at               TIMESTAMPTZ NOT NULL,
    updated_at               TIMESTAMPTZ NOT NULL,
    CONSTRAINT clients_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT clients_kind_chk CHECK (kind IN ('individual', 'legal')),
    CONSTRAINT clients_status_chk CHECK (status IN ('active', 'archived')),
    CONSTRAINT clients_balance_chk CHECK (balance BETWEEN -9007199254740991 AND 9007199254740991),
    CONSTRAINT clients_points_chk CHECK (points >= 0)
);

CREATE INDEX IF NOT EXISTS clients_created_idx ON clients (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS clients_updated_idx ON clients (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS clients_name_idx ON clients (company_id, display_name, id);

CREATE INDEX IF NOT EXISTS clients_assigned_idx ON clients (company_id, assigned_to_id, created_at, id);
