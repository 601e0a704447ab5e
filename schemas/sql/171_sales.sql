-- Cash shifts of a company and its sales, with their lines and payments.

-- The totals are maintained by the sales of the shift; cash_total, card_total and sbp_total are without what was refunded.
CREATE TABLE IF NOT EXISTS shifts (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    number        BIGINT NOT NULL,
    status        TEXT NOT NULL,
    branch_id     UUID,
    opened_at     TIMESTAMPTZ NOT NULL,
    closed_at     TIMESTAMPTZ,
    opened_by_id  UUID NOT NULL,
    closed_by_id  UUID,
    opening_cash  BIGINT NOT NULL,
    closing_cash  BIGINT,
    sales_count   BIGINT NOT NULL,
    refunds_count BIGINT NOT NULL,
    sales_total   BIGINT NOT NULL,
    refunds_total BIGINT NOT NULL,
    cash_total    BIGINT NOT NULL,
    card_total    BIGINT NOT NULL,
    sbp_total     BIGINT NOT NULL,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT shifts_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT shifts_status_chk CHECK (status IN ('open', 'closed')),
    CONSTRAINT shifts_totals_chk CHECK (sales_total <= 9007199254740991 AND refunds_total <= 9007199254740991)
);

CREATE UNIQUE INDEX IF NOT EXISTS shifts_open_key ON shifts (company_id, opened_by_id) WHERE status = 'open';

CREATE UNIQUE INDEX IF NOT EXISTS shifts_number_key ON shifts (company_id, number);

CREATE INDEX IF NOT EXISTS shifts_created_idx ON shifts (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS shifts_updated_idx ON shifts (company_id, updated_at, id);

CREATE TABLE IF NOT EXISTS sales (
    company_id          UUID NOT NULL,
    id                  UUID NOT NULL,
    shift_id            UUID NOT NULL,
    number              BIGINT NOT NULL,
    kind                TEXT NOT NULL,
    subtotal            BIGINT NOT NULL,
    discount_percent_bp INT4 NOT NULL,
    discount_amount     BIGINT NOT NULL,
    total               BIGINT NOT NULL,
    redeemed_points     BIGINT NOT NULL,
    earned_points       BIGINT NOT NULL,
    payment_method      TEXT NOT NULL,
    payment_method_ext  TEXT,
    received_amount     BIGINT,
    change_amount       BIGINT,
    cashier_id          UUID NOT NULL,
    refund_of_sale_id   UUID,
    refunded_by_sale_id UUID,
    customer_id         UUID,
    customer_name       TEXT,
    customer_phone      TEXT,
    channel             TEXT,
    warehouse_id        UUID,
    lines_count         INT4 NOT NULL,
    search_text         TEXT NOT NULL,
    version             BIGINT NOT NULL,
    ev_pos              BIGINT NOT NULL,
    created_at          TIMESTAMPTZ NOT NULL,
    updated_at          TIMESTAMPTZ NOT NULL,
    CONSTRAINT sales_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT sales_kind_chk CHECK (kind IN ('sale', 'refund')),
    CONSTRAINT sales_payment_method_chk CHECK (payment_method IN ('cash', 'card', 'sbp', 'mixed')),
    CONSTRAINT sales_total_chk CHECK (total = subtotal - discount_amount - redeemed_points AND total >= 0)
);

CREATE UNIQUE INDEX IF NOT EXISTS sales_number_key ON sales (company_id, number);

CREATE UNIQUE INDEX IF NOT EXISTS sales_refund_key ON sales (company_id, refund_of_sale_id) WHERE refund_of_sale_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS sales_created_idx ON sales (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS sales_updated_idx ON sales (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS sales_total_idx ON sales (company_id, total, id);

CREATE INDEX IF NOT EXISTS sales_shift_idx ON sales (company_id, shift_id, created_at, id);

CREATE INDEX IF NOT EXISTS sales_cashier_idx ON sales (company_id, cashier_id, created_at, id);

CREATE INDEX IF NOT EXISTS sales_customer_idx ON sales (company_id, customer_id, created_at, id) WHERE customer_id IS NOT NULL;

-- stock lists what the line took from stock: [{"productId", "variantId", "qty"}], several entries for a bundle.
CREATE TABLE IF NOT EXISTS sale_lines (
    company_id      UUID NOT NULL,
    sale_id         UUID NOT NULL,
    id              UUID NOT NULL,
    sort_order      INT4 NOT NULL,
    kind            TEXT NOT NULL,
    ref_id          UUID,
    variant_id      UUID,
    sku             TEXT,
    name            TEXT NOT NULL,
    unit            TEXT,
    qty             DECIMAL(18,3) NOT NULL,
    unit_price      BIGINT NOT NULL,
    amount          BIGINT NOT NULL,
    discount_amount BIGINT NOT NULL,
    total           BIGINT NOT NULL,
    modifiers       TEXT NOT NULL,
    stock           TEXT NOT NULL,
    CONSTRAINT sale_lines_pkey PRIMARY KEY (company_id, sale_id, id),
    CONSTRAINT sale_lines_kind_chk CHECK (kind IN ('product', 'service', 'custom'))
);

-- Insert-only: their amounts add up to the total of the sale.
CREATE TABLE IF NOT EXISTS sale_payments (
    company_id         UUID NOT NULL,
    sale_id            UUID NOT NULL,
    id                 UUID NOT NULL,
    sort_order         INT4 NOT NULL,
    payment_method     TEXT NOT NULL,
    payment_method_ext TEXT,
    amount             BIGINT NOT NULL,
    created_at         TIMESTAMPTZ NOT NULL,
    CONSTRAINT sale_payments_pkey PRIMARY KEY (company_id, sale_id, id),
    CONSTRAINT sale_payments_method_chk CHECK (payment_method IN ('cash', 'card', 'sbp')),
    CONSTRAINT sale_payments_amount_chk CHECK (amount > 0)
);
