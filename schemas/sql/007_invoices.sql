-- An invoice of an order, or the credit note that cancels one. Seller, buyer and lines are those at the time it was issued: they are read
-- only as a whole, with the invoice, and never change.
CREATE TABLE IF NOT EXISTS invoices (
    company_id         UUID NOT NULL,
    id                 UUID NOT NULL,
    number             BIGINT NOT NULL,
    kind               TEXT NOT NULL,
    status             TEXT NOT NULL,
    order_id           UUID NOT NULL,
    order_number       BIGINT NOT NULL,
    client_id          UUID,
    buyer_name         TEXT,
    issued_at          TIMESTAMPTZ NOT NULL,
    due_date           DATE,
    currency           TEXT NOT NULL,
    note               TEXT,
    subtotal           BIGINT NOT NULL,
    discount_amount    BIGINT NOT NULL,
    tax_amount         BIGINT NOT NULL,
    total              BIGINT NOT NULL,
    taxes              JSONB NOT NULL,
    tax_mode           TEXT NOT NULL,
    tax_rounding       TEXT NOT NULL,
    delivery_cost      BIGINT NOT NULL,
    return_fees        BIGINT NOT NULL,
    payable            BIGINT NOT NULL,
    invoice_id         UUID,
    invoice_number     BIGINT,
    credit_note_id     UUID,
    credit_note_number BIGINT,
    cancelled_at       TIMESTAMPTZ,
    reason             TEXT,
    seller             JSONB NOT NULL,
    buyer              JSONB NOT NULL,
    lines              JSONB NOT NULL,
    created_by_id      UUID NOT NULL,
    search_text        TEXT NOT NULL,
    version            BIGINT NOT NULL,
    ev_pos             BIGINT NOT NULL,
    created_at         TIMESTAMPTZ NOT NULL,
    updated_at         TIMESTAMPTZ NOT NULL,
    CONSTRAINT invoices_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT invoices_kind_chk CHECK (kind IN ('invoice', 'credit_note')),
    CONSTRAINT invoices_status_chk CHECK (status IN ('issued', 'cancelled'))
);

CREATE UNIQUE INDEX IF NOT EXISTS invoices_number_key ON invoices (company_id, number);
-- One invoice of an order is not cancelled at most.
CREATE UNIQUE INDEX IF NOT EXISTS invoices_open_key ON invoices (company_id, order_id) WHERE kind = 'invoice' AND status = 'issued';
CREATE INDEX IF NOT EXISTS invoices_order_idx ON invoices (company_id, order_id, issued_at, id);
CREATE INDEX IF NOT EXISTS invoices_client_idx ON invoices (company_id, client_id, issued_at, id) WHERE client_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS invoices_issued_idx ON invoices (company_id, issued_at, id, status, kind);
CREATE INDEX IF NOT EXISTS invoices_updated_idx ON invoices (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS invoices_search_idx ON invoices USING GIN (company_id, search_text gin_trgm_ops);
