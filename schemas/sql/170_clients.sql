-- What belongs to a client: addresses, assets, interactions and the ledger of loyalty points.

-- At most one address of a client is its default.
CREATE TABLE IF NOT EXISTS client_addresses (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    client_id   UUID NOT NULL,
    label       TEXT NOT NULL,
    address     TEXT NOT NULL,
    city        TEXT,
    postal_code TEXT,
    lat         DECIMAL(9,6),
    lng         DECIMAL(9,6),
    is_default  BOOLEAN NOT NULL,
    search_text TEXT NOT NULL,
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_addresses_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS client_addresses_created_idx ON client_addresses (company_id, client_id, created_at, id);

CREATE INDEX IF NOT EXISTS client_addresses_updated_idx ON client_addresses (company_id, client_id, updated_at, id);

CREATE UNIQUE INDEX IF NOT EXISTS client_addresses_default_key ON client_addresses (company_id, client_id) WHERE is_default;

CREATE TABLE IF NOT EXISTS client_assets (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    client_id     UUID NOT NULL,
    name          TEXT NOT NULL,
    serial_number TEXT,
    note          TEXT,
    search_text   TEXT NOT NULL,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_assets_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS client_assets_created_idx ON client_assets (company_id, client_id, created_at, id);

CREATE INDEX IF NOT EXISTS client_assets_updated_idx ON client_assets (company_id, client_id, updated_at, id);

CREATE TABLE IF NOT EXISTS client_interactions (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    client_id     UUID NOT NULL,
    type          TEXT NOT NULL,
    direction     TEXT,
    subject       TEXT,
    body          TEXT,
    occurred_at   TIMESTAMPTZ NOT NULL,
    created_by_id UUID NOT NULL,
    search_text   TEXT NOT NULL,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_interactions_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT client_interactions_type_chk CHECK (type IN ('call', 'email', 'message', 'meeting', 'note')),
    CONSTRAINT client_interactions_direction_chk CHECK (direction IN ('in', 'out'))
);

CREATE INDEX IF NOT EXISTS client_interactions_created_idx ON client_interactions (company_id, client_id, created_at, id);

CREATE INDEX IF NOT EXISTS client_interactions_updated_idx ON client_interactions (company_id, client_id, updated_at, id);

CREATE INDEX IF NOT EXISTS client_interactions_occurred_idx ON client_interactions (company_id, client_id, occurred_at, id);

-- Insert-only: points of a client is the sum of its deltas, and balance that sum after the entry.
CREATE TABLE IF NOT EXISTS client_points (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    client_id  UUID NOT NULL,
    delta      BIGINT NOT NULL,
    balance    BIGINT NOT NULL,
    reason     TEXT NOT NULL,
    sale_id    UUID,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_points_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS client_points_created_idx ON client_points (company_id, client_id, created_at, id);

-- Refunds take back earned points even if the client has spent them.
ALTER TABLE clients DROP CONSTRAINT IF EXISTS clients_points_chk;

-- Whether a group or price list is in use.
CREATE INDEX IF NOT EXISTS clients_group_idx ON clients (company_id, group_id) WHERE group_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS clients_price_list_idx ON clients (company_id, price_list_id) WHERE price_list_id IS NOT NULL;
