-- Shipments of orders: goods that left a warehouse.

-- lines is what clients see; taken lists what the shipment took from stock: [{"lineId", "productId", "variantId", "qty"}].
CREATE TABLE IF NOT EXISTS shipments (
    company_id      UUID NOT NULL,
    id              UUID NOT NULL,
    order_id        UUID NOT NULL,
    number          BIGINT NOT NULL,
    status          TEXT NOT NULL,
    warehouse_id    UUID NOT NULL,
    warehouse_name  TEXT NOT NULL,
    delivery_method TEXT,
    carrier         TEXT,
    tracking_number TEXT,
    shipped_at      TIMESTAMPTZ NOT NULL,
    note            TEXT,
    total_qty       DECIMAL(18,3) NOT NULL,
    created_by_id   UUID,
    lines           JSONB NOT NULL,
    taken           JSONB NOT NULL,
    version         BIGINT NOT NULL,
    ev_pos          BIGINT NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT shipments_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT shipments_status_chk CHECK (status IN ('posted', 'cancelled'))
);

CREATE UNIQUE INDEX IF NOT EXISTS shipments_number_key ON shipments (company_id, number);

CREATE INDEX IF NOT EXISTS shipments_order_idx ON shipments (company_id, order_id, number);
