-- Suppliers of a company. A product can have a default supplier.

CREATE TABLE IF NOT EXISTS suppliers (
    company_id   UUID NOT NULL,
    id           UUID NOT NULL,
    name         TEXT NOT NULL,
    contact_name TEXT,
    phone        TEXT,
    email        TEXT,
    inn          TEXT,
    address      TEXT,
    note         TEXT,
    search_text  TEXT NOT NULL,
    version      BIGINT NOT NULL,
    ev_pos       BIGINT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT suppliers_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS suppliers_created_idx ON suppliers (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS suppliers_updated_idx ON suppliers (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS products_supplier_idx ON products (company_id, default_supplier_id, id) WHERE default_supplier_id IS NOT NULL;
