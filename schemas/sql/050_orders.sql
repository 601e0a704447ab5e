-- Orders of a company, their lines and payments.

-- source_key is source or '', so that external ids are also unique among orders without a source.
CREATE TABLE IF NOT EXISTS orders (
    company_id            UUID NOT NULL,
    id                    UUID NOT NULL,
    number                BIGINT NOT NULL,
    status                TEXT NOT NULL,
    payment_status        TEXT NOT NULL,
    customer_id           UUID,
    asset_id              UUID,
    address_id            UUID,
    address_label         TEXT,
    customer_name         TEXT,
    customer_phone        TEXT,
    customer_email        TEXT,
    customer_note         TEXT,
    channel               TEXT,
    source                TEXT,
    source_key            TEXT NOT NULL,
    external_id           TEXT,
    deal_id               UUID,
    warehouse_id          UUID,
    delivery_status       TEXT,
    delivery_method       TEXT,
    delivery_cost         BIGINT NOT NULL,
    delivery_address_text TEXT,
    due_at                TIMESTAMPTZ,
    ready_by              TIMESTAMPTZ,
    pay_due_at            TIMESTAMPTZ,
    note                  TEXT,
    subtotal              BIGINT NOT NULL,
    discount_percent_bp   INT4 NOT NULL,
    discount_amount       BIGINT NOT NULL,
    total                 BIGINT NOT NULL,
    prepaid_amount        BIGINT NOT NULL,
    was_paid              BOOLEAN NOT NULL,
    lines_count           INT4 NOT NULL,
    created_by_id         UUID,
    assigned_to_id        UUID,
    completed_at          TIMESTAMPTZ,
    cancelled_at          TIMESTAMPTZ,
    search_text           TEXT NOT NULL,
    version               BIGINT NOT NULL,
    ev_pos                BIGINT NOT NULL,
    created_at            TIMESTAMPTZ NOT NULL,
    updated_at            TIMESTAMPTZ NOT NULL,
    CONSTRAINT orders_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT orders_status_chk CHECK (status IN ('new', 'confirmed', 'in_progress', 'ready', 'completed', 'cancelled')),
    CONSTRAINT orders_payment_status_chk CHECK (payment_status IN ('unpaid', 'partial', 'paid', 'refunded')),
    CONSTRAINT orders_paid_chk CHECK (prepaid_amount >= 0 AND prepaid_amount <= total + delivery_cost)
);

CREATE UNIQUE INDEX IF NOT EXISTS orders_number_key ON orders (company_id, number);

CREATE UNIQUE INDEX IF NOT EXISTS orders_external_key ON orders (company_id, source_key, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS orders_created_idx ON orders (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS orders_updated_idx ON orders (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS orders_status_idx ON orders (company_id, status, created_at, id);

CREATE INDEX IF NOT EXISTS orders_customer_idx ON orders (company_id, customer_id, created_at, id) WHERE customer_id IS NOT NULL;

-- stock lists the stock items of the line: [{"productId", "variantId", "qty"}], several entries for a bundle.
CREATE TABLE IF NOT EXISTS order_lines (
    company_id      UUID NOT NULL,
    order_id        UUID NOT NULL,
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
    reserved_qty    DECIMAL(18,3) NOT NULL,
    shipped_qty     DECIMAL(18,3) NOT NULL,
    modifiers       TEXT NOT NULL,
    stock           TEXT NOT NULL,
    note            TEXT,
    CONSTRAINT order_lines_pkey PRIMARY KEY (company_id, order_id, id),
    CONSTRAINT order_lines_kind_chk CHECK (kind IN ('product', 'service', 'custom'))
);

-- Insert-only: prepaid_amount of an order is the sum of its deltas.
CREATE TABLE IF NOT EXISTS order_payments (
    company_id    UUID NOT NULL,
    order_id      UUID NOT NULL,
    id            UUID NOT NULL,
    delta         BIGINT NOT NULL,
    created_by_id UUID,
    created_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT order_payments_pkey PRIMARY KEY (company_id, order_id, id)
);

-- Changed fields, with values as JSON as clients see them.
CREATE TABLE IF NOT EXISTS order_history (
    company_id UUID NOT NULL,
    order_id   UUID NOT NULL,
    id         UUID NOT NULL,
    position   INT4 NOT NULL,
    field      TEXT NOT NULL,
    from_value TEXT NOT NULL,
    to_value   TEXT NOT NULL,
    actor_id   TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT order_history_pkey PRIMARY KEY (company_id, order_id, id, position)
);
