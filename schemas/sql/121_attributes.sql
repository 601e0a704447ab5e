-- Attributes that a company defines for its products, their options, and the values of products and variants.

CREATE TABLE IF NOT EXISTS attributes (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    code          TEXT,
    name          TEXT NOT NULL,
    name_i18n     JSONB NOT NULL,
    type          TEXT NOT NULL,
    unit          TEXT,
    category_ids  UUID[] NOT NULL,
    is_primary    BOOLEAN NOT NULL,
    is_required   BOOLEAN NOT NULL,
    is_filterable BOOLEAN NOT NULL,
    is_variant    BOOLEAN NOT NULL,
    sort_order    INT4 NOT NULL,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT attributes_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT attributes_type_chk CHECK (type IN ('text', 'number', 'boolean', 'select', 'multiselect'))
);

CREATE UNIQUE INDEX IF NOT EXISTS attributes_code_key ON attributes (company_id, code);

CREATE TABLE IF NOT EXISTS attribute_options (
    company_id   UUID NOT NULL,
    id           UUID NOT NULL,
    attribute_id UUID NOT NULL,
    label        TEXT NOT NULL,
    label_i18n   JSONB NOT NULL,
    color        TEXT,
    sort_order   INT4 NOT NULL,
    version      BIGINT NOT NULL,
    ev_pos       BIGINT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT attribute_options_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS attribute_options_attribute_idx ON attribute_options (company_id, attribute_id, sort_order, id);

-- The values of a product stand in its row, so that it is read and changed as a whole.
ALTER TABLE products ADD COLUMN IF NOT EXISTS attribute_values JSONB NOT NULL DEFAULT '[]';

-- Counts the changes of the variants of a product, each of which is a change of the product.
ALTER TABLE products ADD COLUMN IF NOT EXISTS variant_changes BIGINT NOT NULL DEFAULT 0;

-- The same values once more, one row per value, to find products by value and the uses of an attribute or option. The owner is
-- the product or one of its variants. value_key is the value as it is compared; numbers are compared in number_value.
CREATE TABLE IF NOT EXISTS attribute_uses (
    company_id   UUID NOT NULL,
    owner_id     UUID NOT NULL,
    attribute_id UUID NOT NULL,
    value_key    TEXT NOT NULL,
    number_value DECIMAL(18,3),
    product_id   UUID NOT NULL,
    CONSTRAINT attribute_uses_pkey PRIMARY KEY (company_id, owner_id, attribute_id, value_key)
);

CREATE INDEX IF NOT EXISTS attribute_uses_key_idx ON attribute_uses (company_id, attribute_id, value_key, owner_id);

CREATE INDEX IF NOT EXISTS attribute_uses_number_idx ON attribute_uses (company_id, attribute_id, number_value, owner_id);

CREATE TABLE IF NOT EXISTS product_variants (
    company_id       UUID NOT NULL,
    id               UUID NOT NULL,
    product_id       UUID NOT NULL,
    sku              TEXT NOT NULL,
    barcode          TEXT,
    name             TEXT,
    attribute_values JSONB NOT NULL,
    price            BIGINT,
    cost             BIGINT,
    photo_file_id    UUID,
    status           TEXT NOT NULL,
    sort_order       INT4 NOT NULL,
    version          BIGINT NOT NULL,
    ev_pos           BIGINT NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    updated_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT product_variants_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT product_variants_status_chk CHECK (status IN ('active', 'hidden'))
);

CREATE INDEX IF NOT EXISTS product_variants_product_idx ON product_variants (company_id, product_id, sort_order, id);
