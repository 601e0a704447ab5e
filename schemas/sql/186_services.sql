-- Services of the catalog. cost_items holds their cost items, total_cost the sum of the amounts.

CREATE TABLE IF NOT EXISTS services (
    company_id       UUID NOT NULL,
    id               UUID NOT NULL,
    sku              TEXT NOT NULL,
    name             TEXT NOT NULL,
    name_i18n        JSONB NOT NULL,
    category_id      UUID,
    price_model      TEXT NOT NULL,
    price            BIGINT NOT NULL,
    duration_minutes INT4,
    status           TEXT NOT NULL,
    total_cost       BIGINT NOT NULL,
    cost_items       JSONB NOT NULL,
    search_text      TEXT NOT NULL,
    version          BIGINT NOT NULL,
    ev_pos           BIGINT NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    updated_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT services_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT services_status_chk CHECK (status IN ('active', 'hidden')),
    CONSTRAINT services_model_chk CHECK (price_model IN ('fixed', 'per_hour', 'per_minute', 'per_day', 'per_item'))
);

CREATE INDEX IF NOT EXISTS services_created_idx ON services (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS services_updated_idx ON services (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS services_name_idx ON services (company_id, (name COLLATE und), id);

CREATE INDEX IF NOT EXISTS services_sku_idx ON services (company_id, (sku COLLATE und), id);

CREATE INDEX IF NOT EXISTS services_price_idx ON services (company_id, price, id);

CREATE INDEX IF NOT EXISTS services_cost_idx ON services (company_id, total_cost, id);

CREATE INDEX IF NOT EXISTS services_category_idx ON services (company_id, category_id, status);
