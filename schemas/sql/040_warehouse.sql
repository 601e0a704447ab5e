-- Warehouses of a company, their stock and its movements.

CREATE TABLE IF NOT EXISTS warehouses (
    company_id      UUID NOT NULL,
    id              UUID NOT NULL,
    name            TEXT NOT NULL,
    address         TEXT,
    is_default      BOOLEAN NOT NULL,
    manager_user_id UUID,
    branch_id       UUID,
    search_text     TEXT NOT NULL,
    version         BIGINT NOT NULL,
    ev_pos          BIGINT NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT warehouses_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS warehouses_default_key ON warehouses (company_id) WHERE is_default;

CREATE UNIQUE INDEX IF NOT EXISTS warehouses_branch_key ON warehouses (company_id, branch_id) WHERE branch_id IS NOT NULL;

-- variant_id is the zero UUID for a product without variants. Rows are created by the first movement or reservation.
CREATE TABLE IF NOT EXISTS stocks (
    company_id    UUID NOT NULL,
    warehouse_id  UUID NOT NULL,
    product_id    UUID NOT NULL,
    variant_id    UUID NOT NULL,
    id            UUID NOT NULL,
    qty           DECIMAL(18,3) NOT NULL,
    reserved      DECIMAL(18,3) NOT NULL,
    reorder_point DECIMAL(18,3) NOT NULL,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT stocks_pkey PRIMARY KEY (company_id, warehouse_id, product_id, variant_id)
);

CREATE INDEX IF NOT EXISTS stocks_product_idx ON stocks (company_id, product_id, variant_id);

-- Insert-only: qty of a stock row is the sum of its deltas. Names are those at the time of the movement.
CREATE TABLE IF NOT EXISTS stock_movements (
    company_id      UUID NOT NULL,
    id              UUID NOT NULL,
    type            TEXT NOT NULL,
    warehouse_id    UUID NOT NULL,
    warehouse_name  TEXT NOT NULL,
    product_id      UUID NOT NULL,
    product_name    TEXT NOT NULL,
    product_sku     TEXT NOT NULL,
    variant_id      UUID,
    variant_sku     TEXT,
    delta           DECIMAL(18,3) NOT NULL,
    qty_before      DECIMAL(18,3) NOT NULL,
    qty_after       DECIMAL(18,3) NOT NULL,
    document_type   TEXT,
    document_id     UUID,
    document_number BIGINT,
    reason          TEXT,
    created_by_id   UUID,
    created_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT stock_movements_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS stock_movements_product_idx ON stock_movements (company_id, product_id, id);

CREATE INDEX IF NOT EXISTS stock_movements_created_idx ON stock_movements (company_id, created_at, id);
