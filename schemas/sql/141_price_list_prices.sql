-- Prices of items in price lists.

CREATE TABLE IF NOT EXISTS price_list_prices (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    price_list_id UUID NOT NULL,
    kind          TEXT NOT NULL,
    ref_id        UUID NOT NULL,
    variant_id    UUID,
    price         BIGINT NOT NULL,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT price_list_prices_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT price_list_prices_kind_chk CHECK (kind IN ('product', 'service')),
    CONSTRAINT price_list_prices_price_chk CHECK (price BETWEEN 0 AND 9007199254740991)
);

CREATE UNIQUE INDEX IF NOT EXISTS price_list_prices_item_key ON price_list_prices (company_id, price_list_id, ref_id, kind) WHERE variant_id IS NULL;

CREATE UNIQUE INDEX IF NOT EXISTS price_list_prices_variant_key ON price_list_prices (company_id, price_list_id, ref_id, variant_id) WHERE variant_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS price_list_prices_list_idx ON price_list_prices (company_id, price_list_id, ref_id);

CREATE INDEX IF NOT EXISTS price_list_prices_created_idx ON price_list_prices (company_id, price_list_id, created_at, id);

CREATE INDEX IF NOT EXISTS price_list_prices_updated_idx ON price_list_prices (company_id, updated_at, id);
