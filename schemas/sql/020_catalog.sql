-- Categories, units and products of a company, and the names that must be unique among them.

-- One row per company, locked by whoever moves a category: two moves at once could otherwise form a cycle.
CREATE TABLE IF NOT EXISTS category_trees (
    company_id UUID NOT NULL,
    changes    BIGINT NOT NULL,
    CONSTRAINT category_trees_pkey PRIMARY KEY (company_id)
);

CREATE TABLE IF NOT EXISTS categories (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    parent_id  UUID,
    name       TEXT NOT NULL,
    icon       TEXT NOT NULL,
    color      TEXT,
    bg         TEXT,
    sort_order INT4 NOT NULL,
    prefix     TEXT,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT categories_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS categories_parent_idx ON categories (company_id, parent_id);

-- Units of a company; those that every company has are declared in Go.
CREATE TABLE IF NOT EXISTS units (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    code       TEXT NOT NULL,
    name       TEXT NOT NULL,
    name_i18n  JSONB NOT NULL,
    short_name TEXT NOT NULL,
    decimals   SMALLINT NOT NULL,
    is_active  BOOLEAN NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT units_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT units_decimals_chk CHECK (decimals BETWEEN 0 AND 3)
);

CREATE UNIQUE INDEX IF NOT EXISTS units_code_key ON units (company_id, code);

-- component_ids repeats the products inside cost_components: what a bundle takes from the stock.
CREATE TABLE IF NOT EXISTS products (
    company_id          UUID NOT NULL,
    id                  UUID NOT NULL,
    sku                 TEXT NOT NULL,
    barcode             TEXT,
    name                TEXT NOT NULL,
    description         TEXT,
    name_i18n           JSONB NOT NULL,
    description_i18n    JSONB NOT NULL,
    category_id         UUID,
    brand               TEXT,
    model               TEXT,
    price               BIGINT NOT NULL,
    cost                BIGINT NOT NULL,
    unit                TEXT NOT NULL,
    unit_id             UUID,
    pack_qty            DECIMAL(18,3),
    pack_unit_id        UUID,
    min_order_qty       DECIMAL(18,3),
    order_step_qty      DECIMAL(18,3),
    cost_components     JSONB NOT NULL,
    component_ids       UUID[] NOT NULL,
    is_bundle           BOOLEAN NOT NULL,
    modifier_groups     JSONB NOT NULL,
    status              TEXT NOT NULL,
    has_stock           BOOLEAN NOT NULL,
    default_supplier_id UUID,
    emoji               TEXT,
    photo_file_id       UUID,
    thumbnail_file_id   UUID,
    search_text         TEXT NOT NULL,
    version             BIGINT NOT NULL,
    ev_pos              BIGINT NOT NULL,
    created_at          TIMESTAMPTZ NOT NULL,
    updated_at          TIMESTAMPTZ NOT NULL,
    CONSTRAINT products_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT products_status_chk CHECK (status IN ('active', 'hidden'))
);

CREATE INDEX IF NOT EXISTS products_created_idx ON products (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS products_updated_idx ON products (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS products_name_idx ON products (company_id, name, id);

CREATE INDEX IF NOT EXISTS products_sku_idx ON products (company_id, sku, id);

CREATE INDEX IF NOT EXISTS products_price_idx ON products (company_id, price, id);

CREATE INDEX IF NOT EXISTS products_brand_idx ON products (company_id, brand, id);

CREATE INDEX IF NOT EXISTS products_category_idx ON products (company_id, category_id, status);

-- SKUs are unique over products, services and variants, hidden ones included; sku_key is the lower case of sku.
CREATE TABLE IF NOT EXISTS skus (
    company_id UUID NOT NULL,
    sku_key    TEXT NOT NULL,
    entity     TEXT NOT NULL,
    entity_id  UUID NOT NULL,
    sku        TEXT NOT NULL,
    CONSTRAINT skus_pkey PRIMARY KEY (company_id, sku_key),
    CONSTRAINT skus_entity_chk CHECK (entity IN ('product', 'service', 'variant'))
);

-- Barcodes of active products and variants only: a hidden one gives its barcode up.
CREATE TABLE IF NOT EXISTS barcodes (
    company_id UUID NOT NULL,
    barcode    TEXT NOT NULL,
    entity     TEXT NOT NULL,
    entity_id  UUID NOT NULL,
    CONSTRAINT barcodes_pkey PRIMARY KEY (company_id, barcode),
    CONSTRAINT barcodes_entity_chk CHECK (entity IN ('product', 'variant'))
);
