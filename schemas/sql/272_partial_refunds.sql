-- Refunds of parts of sales, cashiers that requests name, and cash movements of shifts.

-- refunded_by_sale_id is the last refund of a sale. The previous release refunds a sale only while it is null, so it leaves alone a
-- sale that was refunded in part. partly_refunded tells such a sale from one that was refunded in full.
ALTER TABLE sales ADD COLUMN IF NOT EXISTS partly_refunded BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE sales ADD COLUMN IF NOT EXISTS refunded_total BIGINT NOT NULL DEFAULT 0;

ALTER TABLE sales ADD COLUMN IF NOT EXISTS reason TEXT;

-- Null: the cashier.
ALTER TABLE sales ADD COLUMN IF NOT EXISTS created_by_id UUID;

-- A sale can have several refunds. Of two that run at once, one finds another refunded_by_sale_id than it has read.
CREATE INDEX IF NOT EXISTS sales_refunds_idx ON sales (company_id, refund_of_sale_id, created_at, id) WHERE refund_of_sale_id IS NOT NULL;

DROP INDEX IF EXISTS sales_refund_key CASCADE;

CREATE INDEX IF NOT EXISTS sales_refunded_idx ON sales (company_id, partly_refunded, created_at, id) WHERE refunded_by_sale_id IS NOT NULL;

-- What refunds of parts have taken of a line and of a payment.
ALTER TABLE sale_lines ADD COLUMN IF NOT EXISTS refunded_qty DECIMAL(18,3) NOT NULL DEFAULT 0;

ALTER TABLE sale_lines ADD COLUMN IF NOT EXISTS refund_of_line_id UUID;

ALTER TABLE sale_payments ADD COLUMN IF NOT EXISTS refunded_amount BIGINT NOT NULL DEFAULT 0;

-- Null: the token that opened the shift.
ALTER TABLE shifts ADD COLUMN IF NOT EXISTS cashier_id UUID;

CREATE INDEX IF NOT EXISTS shifts_cashier_idx ON shifts (company_id, (COALESCE(cashier_id, opened_by_id)), created_at, id);

-- The cash movements of the shift add up to these.
ALTER TABLE shifts ADD COLUMN IF NOT EXISTS cash_in BIGINT NOT NULL DEFAULT 0
    CONSTRAINT shifts_cash_in_chk CHECK (cash_in <= 9007199254740991);

ALTER TABLE shifts ADD COLUMN IF NOT EXISTS cash_out BIGINT NOT NULL DEFAULT 0
    CONSTRAINT shifts_cash_out_chk CHECK (cash_out <= 9007199254740991);

CREATE TABLE IF NOT EXISTS cash_movements (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    shift_id      UUID NOT NULL,
    type          TEXT NOT NULL,
    amount        BIGINT NOT NULL,
    reason        TEXT NOT NULL,
    cashier_id    UUID NOT NULL,
    created_by_id UUID NOT NULL,
    source        TEXT,
    external_id   TEXT,
    metadata      JSONB NOT NULL DEFAULT '{}',
    search_text   TEXT NOT NULL,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT cash_movements_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT cash_movements_type_chk CHECK (type IN ('in', 'out')),
    CONSTRAINT cash_movements_amount_chk CHECK (amount > 0)
);

CREATE INDEX IF NOT EXISTS cash_movements_created_idx ON cash_movements (company_id, shift_id, created_at, id);

CREATE INDEX IF NOT EXISTS cash_movements_updated_idx ON cash_movements (company_id, shift_id, updated_at, id);

CREATE UNIQUE INDEX IF NOT EXISTS cash_movements_external_id_key ON cash_movements (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
