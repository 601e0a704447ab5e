-- Stock receipts of a company and their lines. Names are those at the time of the receipt.

CREATE TABLE IF NOT EXISTS receipts (
    company_id        UUID NOT NULL,
    id                UUID NOT NULL,
    number            BIGINT NOT NULL,
    status            TEXT NOT NULL,
    date              TIMESTAMPTZ NOT NULL,
    warehouse_id      UUID NOT NULL,
    warehouse_name    TEXT NOT NULL,
    supplier_id       UUID,
    supplier_name     TEXT,
    purchase_order_id UUID,
    note              TEXT,
    total_qty         DECIMAL(18,3) NOT NULL,
    total_amount      BIGINT NOT NULL,
    lines_count       INT4 NOT NULL,
    created_by_id     UUID NOT NULL,
    cancelled_at      TIMESTAMPTZ,
    search_text       TEXT NOT NULL,
    version           BIGINT NOT NULL,
    ev_pos            BIGINT NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    CONSTRAINT receipts_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT receipts_status_chk CHECK (status IN ('posted', 'cancelled'))
);

CREATE UNIQUE INDEX IF NOT EXISTS receipts_number_key ON receipts (company_id, number);

CREATE INDEX IF NOT EXISTS receipts_created_idx ON receipts (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS receipts_updated_idx ON receipts (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS receipts_date_idx ON receipts (company_id, date, id);

CREATE INDEX IF NOT EXISTS receipts_qty_idx ON receipts (company_id, total_qty, id);

CREATE INDEX IF NOT EXISTS receipts_amount_idx ON receipts (company_id, total_amount, id);

CREATE INDEX IF NOT EXISTS receipts_warehouse_idx ON receipts (company_id, warehouse_id, created_at, id);

CREATE INDEX IF NOT EXISTS receipts_supplier_idx ON receipts (company_id, supplier_id, created_at, id) WHERE supplier_id IS NOT NULL;

-- stock lists the stock items of the line: [{"productId", "variantId", "qty"}], several entries for a bundle and none for a
-- product without stock. Cancelling the receipt reverses them.
CREATE TABLE IF NOT EXISTS receipt_lines (
    company_id         UUID NOT NULL,
    receipt_id         UUID NOT NULL,
    id                 UUID NOT NULL,
    sort_order         INT4 NOT NULL,
    product_id         UUID NOT NULL,
    product_name       TEXT NOT NULL,
    product_sku        TEXT NOT NULL,
    variant_id         UUID,
    variant_sku        TEXT,
    variant_attributes TEXT,
    unit               TEXT,
    qty                DECIMAL(18,3) NOT NULL,
    unit_cost          BIGINT NOT NULL,
    amount             BIGINT NOT NULL,
    note               TEXT,
    stock              TEXT NOT NULL,
    CONSTRAINT receipt_lines_pkey PRIMARY KEY (company_id, receipt_id, id)
);
