-- Business: the records of companies, one section for each domain. Rows are found by company and id.

-- ---- Catalog: categories, units, products with their variants and attributes ----

-- A company with categories: locked to move one, because concurrent moves could create a cycle.
CREATE TABLE IF NOT EXISTS category_trees (
    company_id UUID NOT NULL,
    changes    BIGINT NOT NULL,
    CONSTRAINT category_trees_pkey PRIMARY KEY (company_id)
);

-- A category of the catalog. parent_id is null at the top.
CREATE TABLE IF NOT EXISTS categories (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    parent_id   UUID,
    name        TEXT NOT NULL,
    icon        TEXT NOT NULL,
    color       TEXT,
    bg          TEXT,
    sort_order  INT4 NOT NULL,
    prefix      TEXT,
    source      TEXT,
    external_id TEXT,
    metadata    JSONB NOT NULL DEFAULT '{}',
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT categories_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS categories_parent_idx ON categories (company_id, parent_id);
CREATE UNIQUE INDEX IF NOT EXISTS categories_external_id_key ON categories (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

-- A unit that a company has added. Built-in units are declared in Go.
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

-- A channel that a company has added. Built-in ones are declared in Go.
CREATE TABLE IF NOT EXISTS channels (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    code       TEXT NOT NULL,
    name       TEXT NOT NULL,
    is_active  BOOLEAN NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT channels_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS channels_code_key ON channels (company_id, code);

-- A method of delivery that a company has added. Built-in ones are declared in Go.
CREATE TABLE IF NOT EXISTS delivery_methods (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    code       TEXT NOT NULL,
    name       TEXT NOT NULL,
    is_active  BOOLEAN NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT delivery_methods_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS delivery_methods_code_key ON delivery_methods (company_id, code);

-- A tax rate. Lines of documents keep the percentage that it had.
CREATE TABLE IF NOT EXISTS tax_rates (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    name        TEXT NOT NULL,
    percent_bp  INT4 NOT NULL,
    kind        TEXT NOT NULL,
    is_active   BOOLEAN NOT NULL,
    source      TEXT,
    external_id TEXT,
    metadata    JSONB NOT NULL DEFAULT '{}',
    search_text TEXT NOT NULL,
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT tax_rates_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT tax_rates_percent_chk CHECK (percent_bp BETWEEN 0 AND 10000),
    CONSTRAINT tax_rates_kind_chk CHECK (kind IN ('standard', 'reduced', 'zero', 'exempt', 'other'))
);

CREATE INDEX IF NOT EXISTS tax_rates_created_idx ON tax_rates (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS tax_rates_updated_idx ON tax_rates (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS tax_rates_name_und_idx ON tax_rates (company_id, (name COLLATE und), id);
CREATE UNIQUE INDEX IF NOT EXISTS tax_rates_external_id_key ON tax_rates (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS tax_rates_source_name_idx ON tax_rates (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS tax_rates_search_idx ON tax_rates USING GIN (company_id, search_text gin_trgm_ops);

-- A product. component_ids holds the products in cost_components, which a bundle takes from stock.
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
    tax_rate_id         UUID,
    unit                TEXT NOT NULL,
    unit_id             UUID,
    pack_qty            DECIMAL(18,3),
    pack_unit_id        UUID,
    min_order_qty       DECIMAL(18,3),
    order_step_qty      DECIMAL(18,3),
    cost_components     JSONB NOT NULL,
    component_ids       UUID[] NOT NULL,
    attribute_values    JSONB NOT NULL DEFAULT '[]', -- in the row, so that it is read and changed as a whole
    is_bundle           BOOLEAN NOT NULL,
    modifier_groups     JSONB NOT NULL,
    status              TEXT NOT NULL,
    has_stock           BOOLEAN NOT NULL,
    default_supplier_id UUID,
    emoji               TEXT,
    photo_file_ids      UUID[] NOT NULL DEFAULT ARRAY[]::UUID[], -- in their order; photo_file_id is the first of them
    photo_file_id       UUID,
    thumbnail_file_id   UUID,
    variant_changes     BIGINT NOT NULL DEFAULT 0, -- counts the changes of the variants, each of which is a change of the product
    source              TEXT,
    external_id         TEXT,
    metadata            JSONB NOT NULL DEFAULT '{}',
    variants_count      INT8 NOT NULL DEFAULT 0, -- active ones
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
CREATE INDEX IF NOT EXISTS products_price_idx ON products (company_id, price, id);
CREATE INDEX IF NOT EXISTS products_category_idx ON products (company_id, category_id, status);
CREATE INDEX IF NOT EXISTS products_supplier_idx ON products (company_id, default_supplier_id, id) WHERE default_supplier_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS products_name_und_idx ON products (company_id, (name COLLATE und), id);
CREATE INDEX IF NOT EXISTS products_sku_und_idx ON products (company_id, (sku COLLATE und), id);
CREATE INDEX IF NOT EXISTS products_brand_und_idx ON products (company_id, (brand COLLATE und), id);
CREATE INDEX IF NOT EXISTS products_model_und_idx ON products (company_id, (model COLLATE und), id);
CREATE UNIQUE INDEX IF NOT EXISTS products_external_id_key ON products (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS products_barcode_idx ON products (company_id, barcode) WHERE barcode IS NOT NULL;
CREATE INDEX IF NOT EXISTS products_source_name_idx ON products (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS products_search_idx ON products USING GIN (company_id, search_text gin_trgm_ops);

-- A variant of a product, with a SKU of its own. A price or cost that is null is that of the product.
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
    source           TEXT,
    external_id      TEXT,
    metadata         JSONB NOT NULL DEFAULT '{}',
    search_text      TEXT NOT NULL DEFAULT '',
    version          BIGINT NOT NULL,
    ev_pos           BIGINT NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    updated_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT product_variants_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT product_variants_status_chk CHECK (status IN ('active', 'hidden'))
);

CREATE INDEX IF NOT EXISTS product_variants_product_idx ON product_variants (company_id, product_id, sort_order, id);
CREATE UNIQUE INDEX IF NOT EXISTS product_variants_external_id_key ON product_variants (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS product_variants_created_idx ON product_variants (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS product_variants_updated_idx ON product_variants (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS product_variants_sku_und_idx ON product_variants (company_id, (sku COLLATE und), id);
CREATE INDEX IF NOT EXISTS product_variants_barcode_idx ON product_variants (company_id, barcode) WHERE barcode IS NOT NULL;
CREATE INDEX IF NOT EXISTS product_variants_source_name_idx ON product_variants (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS product_variants_search_idx ON product_variants USING GIN (company_id, search_text gin_trgm_ops);

-- An attribute that a company defines for its products.
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

-- An option of an attribute of type select or multiselect.
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

-- A value of a product or of one of its variants (the owner), once more: to find products by value, and the uses of an attribute
-- or option. value_key is the value as it is compared; numbers are compared in number_value.
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

-- A SKU that is taken. SKUs are unique over products, services and variants, hidden ones included; sku_key is the sku with folded
-- case and in one form of its characters.
CREATE TABLE IF NOT EXISTS skus (
    company_id UUID NOT NULL,
    sku_key    TEXT NOT NULL,
    entity     TEXT NOT NULL,
    entity_id  UUID NOT NULL,
    sku        TEXT NOT NULL,
    status     TEXT NOT NULL, -- of the item, so that a refusal of the SKU can tell it without knowing the table of the item
    CONSTRAINT skus_pkey PRIMARY KEY (company_id, sku_key),
    CONSTRAINT skus_entity_chk CHECK (entity IN ('product', 'service', 'variant'))
);

-- A barcode that is taken, by an active product or variant: hiding one releases its barcode. barcode_key is as sku_key.
CREATE TABLE IF NOT EXISTS barcodes (
    company_id  UUID NOT NULL,
    barcode_key TEXT NOT NULL,
    entity      TEXT NOT NULL,
    entity_id   UUID NOT NULL,
    CONSTRAINT barcodes_pkey PRIMARY KEY (company_id, barcode_key),
    CONSTRAINT barcodes_entity_chk CHECK (entity IN ('product', 'variant'))
);

-- ---- Services of the catalog ----

-- A service that a company offers. cost_items holds its cost items, total_cost the sum of their amounts.
CREATE TABLE IF NOT EXISTS services (
    company_id       UUID NOT NULL,
    id               UUID NOT NULL,
    sku              TEXT NOT NULL,
    name             TEXT NOT NULL,
    name_i18n        JSONB NOT NULL,
    category_id      UUID,
    price_model      TEXT NOT NULL,
    price            BIGINT NOT NULL,
    tax_rate_id      UUID,
    duration_minutes INT4,
    buffer_before_minutes INT4,
    buffer_after_minutes INT4,
    status           TEXT NOT NULL,
    total_cost       BIGINT NOT NULL,
    cost_items       JSONB NOT NULL,
    source           TEXT,
    external_id      TEXT,
    metadata         JSONB NOT NULL DEFAULT '{}',
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
CREATE UNIQUE INDEX IF NOT EXISTS services_external_id_key ON services (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS services_source_name_idx ON services (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS services_search_idx ON services USING GIN (company_id, search_text gin_trgm_ops);

-- ---- Price lists ----

-- A price list.
CREATE TABLE IF NOT EXISTS price_lists (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    name       TEXT NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT price_lists_pkey PRIMARY KEY (company_id, id)
);

-- The price of a product, service or variant in a price list.
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

-- ---- Suppliers ----

-- A supplier. A product can have a default one.
CREATE TABLE IF NOT EXISTS suppliers (
    company_id   UUID NOT NULL,
    id           UUID NOT NULL,
    name         TEXT NOT NULL,
    contact_name TEXT,
    phone        TEXT,
    email        TEXT,
    inn          TEXT,
    address      TEXT,
    note         TEXT,
    source       TEXT,
    external_id  TEXT,
    metadata     JSONB NOT NULL DEFAULT '{}',
    search_text  TEXT NOT NULL,
    version      BIGINT NOT NULL,
    ev_pos       BIGINT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT suppliers_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS suppliers_created_idx ON suppliers (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS suppliers_updated_idx ON suppliers (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS suppliers_name_und_idx ON suppliers (company_id, (name COLLATE und), id);
CREATE UNIQUE INDEX IF NOT EXISTS suppliers_external_id_key ON suppliers (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS suppliers_source_name_idx ON suppliers (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS suppliers_search_idx ON suppliers USING GIN (company_id, search_text gin_trgm_ops);

-- ---- Warehouses, their stock and its movements ----

-- A warehouse. One of a company is the default, and a branch has at most one.
CREATE TABLE IF NOT EXISTS warehouses (
    company_id      UUID NOT NULL,
    id              UUID NOT NULL,
    name            TEXT NOT NULL,
    address         TEXT,
    is_default      BOOLEAN NOT NULL,
    manager_user_id UUID,
    branch_id       UUID,
    search_text     TEXT NOT NULL,
    version         BIGINT NOT NULL,
    ev_pos          BIGINT NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT warehouses_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS warehouses_default_key ON warehouses (company_id) WHERE is_default;
CREATE UNIQUE INDEX IF NOT EXISTS warehouses_branch_key ON warehouses (company_id, branch_id) WHERE branch_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS warehouses_created_idx ON warehouses (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS warehouses_updated_idx ON warehouses (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS warehouses_name_und_idx ON warehouses (company_id, (name COLLATE und), id);
CREATE INDEX IF NOT EXISTS warehouses_search_idx ON warehouses USING GIN (company_id, search_text gin_trgm_ops);

-- The stock of a product or variant in a warehouse. variant_id is the zero UUID for a product without variants. Rows are created
-- by the first movement or reservation.
CREATE TABLE IF NOT EXISTS stocks (
    company_id    UUID NOT NULL,
    warehouse_id  UUID NOT NULL,
    product_id    UUID NOT NULL,
    variant_id    UUID NOT NULL,
    id            UUID NOT NULL,
    qty           DECIMAL(18,3) NOT NULL,
    reserved      DECIMAL(18,3) NOT NULL,
    reorder_point DECIMAL(18,3) NOT NULL,
    told          DECIMAL(18,3), -- available, as the last event of it says
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT stocks_pkey PRIMARY KEY (company_id, warehouse_id, product_id, variant_id),
    CONSTRAINT stocks_warehouse_fkey FOREIGN KEY (company_id, warehouse_id) REFERENCES warehouses (company_id, id)
);

CREATE INDEX IF NOT EXISTS stocks_product_idx ON stocks (company_id, product_id, variant_id);
CREATE UNIQUE INDEX IF NOT EXISTS stocks_id_key ON stocks (company_id, id);
CREATE INDEX IF NOT EXISTS stocks_created_idx ON stocks (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS stocks_updated_idx ON stocks (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS stocks_qty_idx ON stocks (company_id, qty, id);
CREATE INDEX IF NOT EXISTS stocks_reorder_idx ON stocks (company_id, product_id) WHERE reorder_point > 0;

-- A stock row whose available quantity has changed since it was told. Who adds or deletes a row holds the lock of the stock row.
CREATE TABLE IF NOT EXISTS stock_changes (
    company_id   UUID NOT NULL,
    warehouse_id UUID NOT NULL,
    product_id   UUID NOT NULL,
    variant_id   UUID NOT NULL,
    CONSTRAINT stock_changes_pkey PRIMARY KEY (company_id, warehouse_id, product_id, variant_id)
);

-- A change of the quantity of a stock row, which is the sum of its deltas. Insert-only. Names are those at the time of the
-- movement.
CREATE TABLE IF NOT EXISTS stock_movements (
    company_id      UUID NOT NULL,
    id              UUID NOT NULL,
    type            TEXT NOT NULL,
    warehouse_id    UUID NOT NULL,
    warehouse_name  TEXT NOT NULL,
    product_id      UUID NOT NULL,
    product_name    TEXT NOT NULL,
    product_sku     TEXT NOT NULL,
    variant_id      UUID,
    variant_sku     TEXT,
    delta           DECIMAL(18,3) NOT NULL,
    qty_before      DECIMAL(18,3) NOT NULL,
    qty_after       DECIMAL(18,3) NOT NULL,
    document_type   TEXT,
    document_id     UUID,
    document_number BIGINT,
    reason          TEXT,
    created_by_id   UUID,
    created_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT stock_movements_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS stock_movements_created_idx ON stock_movements (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS stock_movements_product_created_idx ON stock_movements (company_id, product_id, created_at, id);
CREATE INDEX IF NOT EXISTS stock_movements_warehouse_created_idx ON stock_movements (company_id, warehouse_id, created_at, id);
CREATE INDEX IF NOT EXISTS stock_movements_type_created_idx ON stock_movements (company_id, type, created_at, id);

-- ---- Receipts of goods ----

-- A receipt of goods into a warehouse. Names are those at the time of the receipt. purchase_order_number is NULL unless purchase_order_id is
-- that of a purchase order, which the receipt counts towards then.
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
    purchase_order_number BIGINT,
    note              TEXT,
    total_qty         DECIMAL(18,3) NOT NULL,
    total_amount      BIGINT NOT NULL,
    lines_count       INT4 NOT NULL,
    created_by_id     UUID NOT NULL,
    source            TEXT,
    external_id       TEXT,
    metadata          JSONB NOT NULL DEFAULT '{}',
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
CREATE INDEX IF NOT EXISTS receipts_purchase_order_idx ON receipts (company_id, purchase_order_id, created_at, id) WHERE purchase_order_id IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS receipts_external_id_key ON receipts (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS receipts_source_name_idx ON receipts (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS receipts_search_idx ON receipts USING GIN (company_id, search_text gin_trgm_ops);

-- A line of a receipt. stock lists the stock items of the line: [{"productId", "variantId", "qty"}], several entries for a bundle
-- and none for a product without stock. Cancelling the receipt reverses them.
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

-- ---- Transfers of goods ----

-- A transfer of goods from one warehouse, warehouse_id, to another. Names are those at the time of the transfer.
CREATE TABLE IF NOT EXISTS transfers (
    company_id        UUID NOT NULL,
    id                UUID NOT NULL,
    number            BIGINT NOT NULL,
    status            TEXT NOT NULL,
    warehouse_id      UUID NOT NULL,
    warehouse_name    TEXT NOT NULL,
    to_warehouse_id   UUID NOT NULL,
    to_warehouse_name TEXT NOT NULL,
    note              TEXT,
    total_qty         DECIMAL(18,3) NOT NULL,
    received_qty      DECIMAL(18,3),
    lines_count       INT4 NOT NULL,
    created_by_id     UUID NOT NULL,
    source            TEXT,
    external_id       TEXT,
    metadata          JSONB NOT NULL DEFAULT '{}',
    sent_at           TIMESTAMPTZ,
    received_at       TIMESTAMPTZ,
    cancelled_at      TIMESTAMPTZ,
    search_text       TEXT NOT NULL,
    version           BIGINT NOT NULL,
    ev_pos            BIGINT NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    CONSTRAINT transfers_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT transfers_status_chk CHECK (status IN ('draft', 'sent', 'received', 'cancelled'))
);

CREATE UNIQUE INDEX IF NOT EXISTS transfers_number_key ON transfers (company_id, number);
CREATE INDEX IF NOT EXISTS transfers_created_idx ON transfers (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS transfers_updated_idx ON transfers (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS transfers_qty_idx ON transfers (company_id, total_qty, id);
CREATE INDEX IF NOT EXISTS transfers_warehouse_idx ON transfers (company_id, warehouse_id, created_at, id);
CREATE INDEX IF NOT EXISTS transfers_to_warehouse_idx ON transfers (company_id, to_warehouse_id, created_at, id);
CREATE UNIQUE INDEX IF NOT EXISTS transfers_external_id_key ON transfers (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS transfers_source_name_idx ON transfers (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS transfers_search_idx ON transfers USING GIN (company_id, search_text gin_trgm_ops);

-- A line of a transfer. received_qty is what arrived of qty; NULL until then.
CREATE TABLE IF NOT EXISTS transfer_lines (
    company_id         UUID NOT NULL,
    transfer_id        UUID NOT NULL,
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
    received_qty       DECIMAL(18,3),
    note               TEXT,
    CONSTRAINT transfer_lines_pkey PRIMARY KEY (company_id, transfer_id, id)
);

-- ---- Write-offs ----

-- Goods that left stock without being sold. Names are those at the time of the write-off.
CREATE TABLE IF NOT EXISTS write_offs (
    company_id     UUID NOT NULL,
    id             UUID NOT NULL,
    number         BIGINT NOT NULL,
    status         TEXT NOT NULL,
    reason         TEXT NOT NULL,
    warehouse_id   UUID NOT NULL,
    warehouse_name TEXT NOT NULL,
    note           TEXT,
    total_qty      DECIMAL(18,3) NOT NULL,
    total_amount   BIGINT NOT NULL,
    lines_count    INT4 NOT NULL,
    created_by_id  UUID NOT NULL,
    source         TEXT,
    external_id    TEXT,
    metadata       JSONB NOT NULL DEFAULT '{}',
    cancelled_at   TIMESTAMPTZ,
    search_text    TEXT NOT NULL,
    version        BIGINT NOT NULL,
    ev_pos         BIGINT NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT write_offs_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT write_offs_status_chk CHECK (status IN ('posted', 'cancelled'))
);

CREATE UNIQUE INDEX IF NOT EXISTS write_offs_number_key ON write_offs (company_id, number);
CREATE INDEX IF NOT EXISTS write_offs_created_idx ON write_offs (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS write_offs_updated_idx ON write_offs (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS write_offs_qty_idx ON write_offs (company_id, total_qty, id);
CREATE INDEX IF NOT EXISTS write_offs_amount_idx ON write_offs (company_id, total_amount, id);
CREATE INDEX IF NOT EXISTS write_offs_warehouse_idx ON write_offs (company_id, warehouse_id, created_at, id);
CREATE UNIQUE INDEX IF NOT EXISTS write_offs_external_id_key ON write_offs (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS write_offs_source_name_idx ON write_offs (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS write_offs_search_idx ON write_offs USING GIN (company_id, search_text gin_trgm_ops);

-- A line of a write-off.
CREATE TABLE IF NOT EXISTS write_off_lines (
    company_id         UUID NOT NULL,
    write_off_id       UUID NOT NULL,
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
    CONSTRAINT write_off_lines_pkey PRIMARY KEY (company_id, write_off_id, id)
);

-- ---- Counts of stock ----

-- A list of goods of a warehouse that people count. Names are those at the time of the count.
CREATE TABLE IF NOT EXISTS stock_counts (
    company_id     UUID NOT NULL,
    id             UUID NOT NULL,
    number         BIGINT NOT NULL,
    status         TEXT NOT NULL,
    warehouse_id   UUID NOT NULL,
    warehouse_name TEXT NOT NULL,
    note           TEXT,
    lines_count    INT4 NOT NULL,
    counted_lines  INT4 NOT NULL,
    created_by_id  UUID NOT NULL,
    source         TEXT,
    external_id    TEXT,
    metadata       JSONB NOT NULL DEFAULT '{}',
    posted_at      TIMESTAMPTZ,
    cancelled_at   TIMESTAMPTZ,
    search_text    TEXT NOT NULL,
    version        BIGINT NOT NULL,
    ev_pos         BIGINT NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT stock_counts_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT stock_counts_status_chk CHECK (status IN ('counting', 'posted', 'cancelled'))
);

CREATE UNIQUE INDEX IF NOT EXISTS stock_counts_number_key ON stock_counts (company_id, number);
CREATE INDEX IF NOT EXISTS stock_counts_created_idx ON stock_counts (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS stock_counts_updated_idx ON stock_counts (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS stock_counts_warehouse_idx ON stock_counts (company_id, warehouse_id, created_at, id);
CREATE UNIQUE INDEX IF NOT EXISTS stock_counts_external_id_key ON stock_counts (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS stock_counts_source_name_idx ON stock_counts (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS stock_counts_search_idx ON stock_counts USING GIN (company_id, search_text gin_trgm_ops);

-- A line of a count. expected_qty is what was on stock when the line was counted. open_in is the warehouse until the count ends, then
-- NULL: goods are in one open count of a warehouse only.
CREATE TABLE IF NOT EXISTS stock_count_lines (
    company_id         UUID NOT NULL,
    count_id           UUID NOT NULL,
    id                 UUID NOT NULL,
    sort_order         INT4 NOT NULL,
    product_id         UUID NOT NULL,
    product_name       TEXT NOT NULL,
    product_sku        TEXT NOT NULL,
    variant_id         UUID,
    variant_sku        TEXT,
    variant_attributes TEXT,
    unit               TEXT,
    expected_qty       DECIMAL(18,3) NOT NULL,
    counted_qty        DECIMAL(18,3),
    counted_at         TIMESTAMPTZ,
    open_in            UUID,
    note               TEXT,
    CONSTRAINT stock_count_lines_pkey PRIMARY KEY (company_id, count_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS stock_count_lines_open_key ON stock_count_lines (company_id, open_in, product_id, COALESCE(variant_id, '00000000-0000-0000-0000-000000000000')) WHERE open_in IS NOT NULL;

-- ---- Purchase orders ----

-- What a company asks a supplier for. received_qty is what posted receipts brought. Names are those at the time of the order.
CREATE TABLE IF NOT EXISTS purchase_orders (
    company_id     UUID NOT NULL,
    id             UUID NOT NULL,
    number         BIGINT NOT NULL,
    status         TEXT NOT NULL,
    supplier_id    UUID NOT NULL,
    supplier_name  TEXT NOT NULL,
    warehouse_id   UUID NOT NULL,
    warehouse_name TEXT NOT NULL,
    expected_at    TIMESTAMPTZ,
    note           TEXT,
    total_qty      DECIMAL(18,3) NOT NULL,
    total_amount   BIGINT NOT NULL,
    received_qty   DECIMAL(18,3) NOT NULL,
    lines_count    INT4 NOT NULL,
    created_by_id  UUID NOT NULL,
    source         TEXT,
    external_id    TEXT,
    metadata       JSONB NOT NULL DEFAULT '{}',
    sent_at        TIMESTAMPTZ,
    closed_at      TIMESTAMPTZ,
    cancelled_at   TIMESTAMPTZ,
    search_text    TEXT NOT NULL,
    version        BIGINT NOT NULL,
    ev_pos         BIGINT NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT purchase_orders_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT purchase_orders_status_chk CHECK (status IN ('draft', 'sent', 'partly_received', 'received', 'cancelled'))
);

CREATE UNIQUE INDEX IF NOT EXISTS purchase_orders_number_key ON purchase_orders (company_id, number);
CREATE INDEX IF NOT EXISTS purchase_orders_created_idx ON purchase_orders (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS purchase_orders_updated_idx ON purchase_orders (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS purchase_orders_qty_idx ON purchase_orders (company_id, total_qty, id);
CREATE INDEX IF NOT EXISTS purchase_orders_amount_idx ON purchase_orders (company_id, total_amount, id);
CREATE INDEX IF NOT EXISTS purchase_orders_supplier_idx ON purchase_orders (company_id, supplier_id, created_at, id);
CREATE INDEX IF NOT EXISTS purchase_orders_warehouse_idx ON purchase_orders (company_id, warehouse_id, created_at, id);
CREATE INDEX IF NOT EXISTS purchase_orders_open_idx ON purchase_orders (company_id, warehouse_id, id) WHERE status IN ('draft', 'sent', 'partly_received');
CREATE UNIQUE INDEX IF NOT EXISTS purchase_orders_external_id_key ON purchase_orders (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS purchase_orders_source_name_idx ON purchase_orders (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS purchase_orders_search_idx ON purchase_orders USING GIN (company_id, search_text gin_trgm_ops);

-- A line of a purchase order.
CREATE TABLE IF NOT EXISTS purchase_order_lines (
    company_id         UUID NOT NULL,
    purchase_order_id  UUID NOT NULL,
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
    received_qty       DECIMAL(18,3) NOT NULL,
    unit_cost          BIGINT NOT NULL,
    amount             BIGINT NOT NULL,
    note               TEXT,
    CONSTRAINT purchase_order_lines_pkey PRIMARY KEY (company_id, purchase_order_id, id)
);

-- ---- Returns to suppliers ----

-- Goods that went back to a supplier. Names are those at the time of the return.
CREATE TABLE IF NOT EXISTS supplier_returns (
    company_id     UUID NOT NULL,
    id             UUID NOT NULL,
    number         BIGINT NOT NULL,
    status         TEXT NOT NULL,
    supplier_id    UUID NOT NULL,
    supplier_name  TEXT NOT NULL,
    receipt_id     UUID,
    reason         TEXT,
    warehouse_id   UUID NOT NULL,
    warehouse_name TEXT NOT NULL,
    note           TEXT,
    total_qty      DECIMAL(18,3) NOT NULL,
    total_amount   BIGINT NOT NULL,
    lines_count    INT4 NOT NULL,
    created_by_id  UUID NOT NULL,
    source         TEXT,
    external_id    TEXT,
    metadata       JSONB NOT NULL DEFAULT '{}',
    cancelled_at   TIMESTAMPTZ,
    search_text    TEXT NOT NULL,
    version        BIGINT NOT NULL,
    ev_pos         BIGINT NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT supplier_returns_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT supplier_returns_status_chk CHECK (status IN ('posted', 'cancelled'))
);

CREATE UNIQUE INDEX IF NOT EXISTS supplier_returns_number_key ON supplier_returns (company_id, number);
CREATE INDEX IF NOT EXISTS supplier_returns_created_idx ON supplier_returns (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS supplier_returns_updated_idx ON supplier_returns (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS supplier_returns_qty_idx ON supplier_returns (company_id, total_qty, id);
CREATE INDEX IF NOT EXISTS supplier_returns_amount_idx ON supplier_returns (company_id, total_amount, id);
CREATE INDEX IF NOT EXISTS supplier_returns_warehouse_idx ON supplier_returns (company_id, warehouse_id, created_at, id);
CREATE INDEX IF NOT EXISTS supplier_returns_supplier_idx ON supplier_returns (company_id, supplier_id, created_at, id);
CREATE UNIQUE INDEX IF NOT EXISTS supplier_returns_external_id_key ON supplier_returns (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS supplier_returns_source_name_idx ON supplier_returns (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS supplier_returns_search_idx ON supplier_returns USING GIN (company_id, search_text gin_trgm_ops);

-- A line of a return to a supplier.
CREATE TABLE IF NOT EXISTS supplier_return_lines (
    company_id         UUID NOT NULL,
    supplier_return_id UUID NOT NULL,
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
    CONSTRAINT supplier_return_lines_pkey PRIMARY KEY (company_id, supplier_return_id, id)
);

-- ---- Clients ----

-- A group of clients, which may have a price list.
CREATE TABLE IF NOT EXISTS client_groups (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    name          TEXT NOT NULL,
    price_list_id UUID,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_groups_pkey PRIMARY KEY (company_id, id)
);

-- A client, a person or a company. The platform maintains balance and points.
CREATE TABLE IF NOT EXISTS clients (
    company_id               UUID NOT NULL,
    id                       UUID NOT NULL,
    kind                     TEXT NOT NULL,
    display_name             TEXT NOT NULL,
    first_name               TEXT,
    last_name                TEXT,
    middle_name              TEXT,
    company_name             TEXT,
    "position"               TEXT,
    phone                    TEXT,
    email                    TEXT,
    telegram_chat_id         TEXT,
    whatsapp_phone           TEXT,
    inn                      TEXT,
    kpp                      TEXT,
    legal_address            TEXT,
    bank_details             TEXT,
    note                     TEXT,
    contract_number          TEXT,
    tags                     TEXT[] NOT NULL,
    birthday                 DATE,
    status                   TEXT NOT NULL,
    balance                  BIGINT NOT NULL,
    points                   BIGINT NOT NULL,
    group_id                 UUID,
    price_list_id            UUID,
    payment_terms_days       INT4,
    credit_limit             BIGINT NOT NULL,
    sla_hours                INT4,
    marketing_consent        BOOLEAN NOT NULL,
    marketing_consent_at     TIMESTAMPTZ,
    marketing_consent_source TEXT,
    anonymized_at            TIMESTAMPTZ,
    merged_into_id           UUID, -- never a client that was merged itself
    assigned_to_id           UUID,
    created_by_id            UUID NOT NULL,
    source                   TEXT,
    external_id              TEXT,
    metadata                 JSONB NOT NULL DEFAULT '{}',
    search_text              TEXT NOT NULL,
    version                  BIGINT NOT NULL,
    ev_pos                   BIGINT NOT NULL,
    created_at               TIMESTAMPTZ NOT NULL,
    updated_at               TIMESTAMPTZ NOT NULL,
    CONSTRAINT clients_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT clients_kind_chk CHECK (kind IN ('individual', 'legal')),
    CONSTRAINT clients_status_chk CHECK (status IN ('active', 'archived')),
    CONSTRAINT clients_balance_chk CHECK (balance BETWEEN -9007199254740991 AND 9007199254740991)
);

CREATE INDEX IF NOT EXISTS clients_created_idx ON clients (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS clients_updated_idx ON clients (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS clients_assigned_idx ON clients (company_id, assigned_to_id, created_at, id);
CREATE INDEX IF NOT EXISTS clients_name_und_idx ON clients (company_id, (display_name COLLATE und), id);
-- The conversion of a lead looks for a client with its phone number, whose digits are compared, or e-mail address.
CREATE INDEX IF NOT EXISTS clients_phone_digits_idx ON clients (company_id, (regexp_replace(phone, '[^0-9]', '', 'g')), created_at, id) WHERE phone IS NOT NULL;
CREATE INDEX IF NOT EXISTS clients_email_idx ON clients (company_id, (lower(email)), created_at, id) WHERE email IS NOT NULL;
-- Whether a group or price list is in use.
CREATE INDEX IF NOT EXISTS clients_group_idx ON clients (company_id, group_id) WHERE group_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS clients_price_list_idx ON clients (company_id, price_list_id) WHERE price_list_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS clients_status_idx ON clients (company_id, status, created_at, id);
CREATE UNIQUE INDEX IF NOT EXISTS clients_external_id_key ON clients (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS clients_source_name_idx ON clients (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS clients_merged_idx ON clients (company_id, merged_into_id, created_at, id) WHERE merged_into_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS clients_search_idx ON clients USING GIN (company_id, search_text gin_trgm_ops);
CREATE INDEX IF NOT EXISTS clients_tags_idx ON clients USING GIN (company_id, tags);

-- An address of a client. At most one of a client is its default.
CREATE TABLE IF NOT EXISTS client_addresses (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    client_id   UUID NOT NULL,
    label       TEXT NOT NULL,
    address     TEXT NOT NULL,
    city        TEXT,
    postal_code TEXT,
    lat         DECIMAL(9,6),
    lng         DECIMAL(9,6),
    is_default  BOOLEAN NOT NULL,
    search_text TEXT NOT NULL,
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_addresses_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS client_addresses_created_idx ON client_addresses (company_id, client_id, created_at, id);
CREATE INDEX IF NOT EXISTS client_addresses_updated_idx ON client_addresses (company_id, client_id, updated_at, id);
CREATE UNIQUE INDEX IF NOT EXISTS client_addresses_default_key ON client_addresses (company_id, client_id) WHERE is_default;

-- A thing of a client that orders and deals are about, such as a machine.
CREATE TABLE IF NOT EXISTS client_assets (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    client_id     UUID NOT NULL,
    name          TEXT NOT NULL,
    serial_number TEXT,
    note          TEXT,
    search_text   TEXT NOT NULL,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_assets_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS client_assets_created_idx ON client_assets (company_id, client_id, created_at, id);
CREATE INDEX IF NOT EXISTS client_assets_updated_idx ON client_assets (company_id, client_id, updated_at, id);

-- A call, message, meeting or note about a client.
CREATE TABLE IF NOT EXISTS client_interactions (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    client_id     UUID NOT NULL,
    type          TEXT NOT NULL,
    direction     TEXT,
    subject       TEXT,
    body          TEXT,
    occurred_at   TIMESTAMPTZ NOT NULL,
    created_by_id UUID NOT NULL,
    search_text   TEXT NOT NULL,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_interactions_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT client_interactions_type_chk CHECK (type IN ('call', 'email', 'message', 'meeting', 'note')),
    CONSTRAINT client_interactions_direction_chk CHECK (direction IN ('in', 'out'))
);

CREATE INDEX IF NOT EXISTS client_interactions_created_idx ON client_interactions (company_id, client_id, created_at, id);
CREATE INDEX IF NOT EXISTS client_interactions_updated_idx ON client_interactions (company_id, client_id, updated_at, id);
CREATE INDEX IF NOT EXISTS client_interactions_occurred_idx ON client_interactions (company_id, client_id, occurred_at, id);

-- An entry in the ledger of loyalty points of a client, whose points are the sum of its deltas; balance is that sum after the
-- entry. Insert-only. Refunds take back earned points even if the client has spent them.
CREATE TABLE IF NOT EXISTS client_points (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    client_id  UUID NOT NULL,
    delta      BIGINT NOT NULL,
    balance    BIGINT NOT NULL,
    reason     TEXT NOT NULL,
    sale_id    UUID,
    note       TEXT, -- of an adjustment
    created_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_points_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS client_points_created_idx ON client_points (company_id, client_id, created_at, id);

-- An entry in the ledger of a client: what a document has charged, and what was paid for it. The balance of the client is the sum of
-- paid - charged. Insert-only. client_version is the version that the client got with the entry, so a reader who knows a version of the
-- client knows which entries made its balance; 0 for what leaves the balance as it is.
CREATE TABLE IF NOT EXISTS client_ledger (
    company_id     UUID NOT NULL,
    client_id      UUID NOT NULL,
    occurred_at    TIMESTAMPTZ NOT NULL,
    id             UUID NOT NULL,
    kind           TEXT NOT NULL,
    charged        BIGINT NOT NULL,
    paid           BIGINT NOT NULL,
    order_id       UUID,
    sale_id        UUID,
    number         BIGINT NOT NULL, -- of the order or sale
    payment_id     UUID,
    return_id      UUID,
    other_id       UUID, -- client that was merged, or that an order came from or went to
    client_version BIGINT NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT client_ledger_pkey PRIMARY KEY (company_id, client_id, occurred_at, id)
);

-- ---- Leads ----

-- Where deals come from, as a company names it.
CREATE TABLE IF NOT EXISTS lead_sources (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    name       TEXT NOT NULL,
    alias      TEXT,
    is_active  BOOLEAN NOT NULL,
    sort_order INT4 NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT lead_sources_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS lead_sources_alias_key ON lead_sources (company_id, alias) WHERE alias IS NOT NULL;

-- A lead: somebody who may become a client.
CREATE TABLE IF NOT EXISTS leads (
    company_id     UUID NOT NULL,
    id             UUID NOT NULL,
    source         TEXT NOT NULL,
    channel        TEXT,
    name           TEXT,
    phone          TEXT,
    email          TEXT,
    message        TEXT,
    status         TEXT NOT NULL,
    external_id    TEXT,
    raw            JSONB,
    client_id      UUID,
    deal_id        UUID,
    assigned_to_id UUID,
    utm            JSONB,
    search_text    TEXT NOT NULL,
    version        BIGINT NOT NULL,
    ev_pos         BIGINT NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT leads_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT leads_status_chk CHECK (status IN ('new', 'in_progress', 'converted', 'spam'))
);

CREATE UNIQUE INDEX IF NOT EXISTS leads_external_key ON leads (company_id, source, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS leads_created_idx ON leads (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS leads_updated_idx ON leads (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS leads_status_idx ON leads (company_id, status, id);
CREATE INDEX IF NOT EXISTS leads_source_idx ON leads (company_id, source, created_at, id);
CREATE INDEX IF NOT EXISTS leads_client_idx ON leads (company_id, client_id) WHERE client_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS leads_assigned_idx ON leads (company_id, assigned_to_id, created_at, id);
CREATE INDEX IF NOT EXISTS leads_phone_digits_idx ON leads (company_id, (regexp_replace(phone, '[^0-9]', '', 'g'))) WHERE phone IS NOT NULL;
CREATE INDEX IF NOT EXISTS leads_search_idx ON leads USING GIN (company_id, search_text gin_trgm_ops);

-- ---- Deals ----

-- A type of deals, with stages of its own.
CREATE TABLE IF NOT EXISTS deal_types (
    company_id   UUID NOT NULL,
    id           UUID NOT NULL,
    alias        TEXT NOT NULL,
    name         TEXT NOT NULL,
    component    TEXT NOT NULL,
    is_default   BOOLEAN NOT NULL,
    is_lead_type BOOLEAN NOT NULL,
    is_active    BOOLEAN NOT NULL,
    sort_order   INT4 NOT NULL,
    version      BIGINT NOT NULL,
    ev_pos       BIGINT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT deal_types_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS deal_types_alias_key ON deal_types (company_id, alias);
CREATE UNIQUE INDEX IF NOT EXISTS deal_types_default_key ON deal_types (company_id) WHERE is_default;
CREATE UNIQUE INDEX IF NOT EXISTS deal_types_lead_key ON deal_types (company_id) WHERE is_lead_type;

-- A stage of the deals of a type. A terminal one has an outcome.
CREATE TABLE IF NOT EXISTS deal_stages (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    type_id     UUID NOT NULL,
    name        TEXT NOT NULL,
    color       TEXT,
    sort_order  INT4 NOT NULL,
    is_initial  BOOLEAN NOT NULL,
    is_terminal BOOLEAN NOT NULL,
    outcome     TEXT,
    probability INT4,
    sla_hours   INT4,
    checklist   TEXT[] NOT NULL,
    is_active   BOOLEAN NOT NULL,
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT deal_stages_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT deal_stages_outcome_chk CHECK (outcome IN ('won', 'lost', 'done', 'cancelled')),
    CONSTRAINT deal_stages_terminal_chk CHECK (is_terminal = (outcome IS NOT NULL))
);

CREATE INDEX IF NOT EXISTS deal_stages_type_idx ON deal_stages (company_id, type_id, sort_order, id);

-- Why a deal was lost, as a company names it.
CREATE TABLE IF NOT EXISTS deal_lost_reasons (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    name       TEXT NOT NULL,
    alias      TEXT,
    is_active  BOOLEAN NOT NULL,
    sort_order INT4 NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT deal_lost_reasons_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS deal_lost_reasons_alias_key ON deal_lost_reasons (company_id, alias) WHERE alias IS NOT NULL;

-- A deal. board_order is the time of entering the stage, in microseconds.
CREATE TABLE IF NOT EXISTS deals (
    company_id          UUID NOT NULL,
    id                  UUID NOT NULL,
    number              BIGINT NOT NULL,
    type_id             UUID NOT NULL,
    stage_id            UUID NOT NULL,
    checklist_done      TEXT[] NOT NULL,
    outcome             TEXT,
    client_id           UUID,
    asset_id            UUID,
    address_id          UUID,
    branch_id           UUID, -- in which the deal is dealt with
    venue_resource_id   UUID,
    address_label       TEXT,
    customer_name       TEXT,
    customer_phone      TEXT,
    customer_email      TEXT,
    customer_note       TEXT,
    channel             TEXT,
    source              TEXT,
    source_id           UUID,
    external_id         TEXT,
    address             TEXT,
    scheduled_at        TIMESTAMPTZ,
    due_at              TIMESTAMPTZ,
    note                TEXT,
    subtotal            BIGINT NOT NULL,
    discount_percent_bp INT4 NOT NULL,
    fixed_discount      BIGINT NOT NULL DEFAULT 0,
    coupon_code         TEXT,
    discount_amount     BIGINT NOT NULL,
    tax_amount          BIGINT NOT NULL DEFAULT 0,
    total               BIGINT NOT NULL,
    taxes               JSONB NOT NULL DEFAULT '[]', -- sums of the lines by rate
    tax_mode            TEXT NOT NULL DEFAULT 'included', -- of the company when the document was created, as tax_rounding
    tax_rounding        TEXT NOT NULL DEFAULT 'line',
    cost                BIGINT NOT NULL,
    budget              BIGINT,
    budget_exceeded_at  TIMESTAMPTZ,
    headcount           INT4,
    lost_reason_id      UUID,
    next_action_at      TIMESTAMPTZ,
    stage_entered_at    TIMESTAMPTZ,
    intake              JSONB,
    board_order         BIGINT NOT NULL,
    lines_count         INT4 NOT NULL,
    created_by_id       UUID NOT NULL,
    assigned_to_id      UUID,
    metadata            JSONB NOT NULL DEFAULT '{}',
    search_text         TEXT NOT NULL,
    version             BIGINT NOT NULL,
    ev_pos              BIGINT NOT NULL,
    created_at          TIMESTAMPTZ NOT NULL,
    updated_at          TIMESTAMPTZ NOT NULL,
    CONSTRAINT deals_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT deals_outcome_chk CHECK (outcome IN ('won', 'lost', 'done', 'cancelled')),
    CONSTRAINT deals_total_chk CHECK (total = subtotal - discount_amount)
);

CREATE UNIQUE INDEX IF NOT EXISTS deals_number_key ON deals (company_id, number);
CREATE INDEX IF NOT EXISTS deals_created_idx ON deals (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS deals_updated_idx ON deals (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS deals_stage_idx ON deals (company_id, stage_id, board_order, id);
CREATE INDEX IF NOT EXISTS deals_board_idx ON deals (company_id, board_order, id);
CREATE INDEX IF NOT EXISTS deals_type_idx ON deals (company_id, type_id, created_at, id);
CREATE INDEX IF NOT EXISTS deals_total_idx ON deals (company_id, total, id);
CREATE INDEX IF NOT EXISTS deals_due_idx ON deals (company_id, due_at, id);
CREATE INDEX IF NOT EXISTS deals_scheduled_idx ON deals (company_id, scheduled_at, id);
CREATE INDEX IF NOT EXISTS deals_client_idx ON deals (company_id, client_id, created_at, id) WHERE client_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS deals_assigned_idx ON deals (company_id, assigned_to_id, created_at, id) WHERE assigned_to_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS deals_open_idx ON deals (company_id, next_action_at, id) WHERE outcome IS NULL;
CREATE INDEX IF NOT EXISTS deals_outcome_idx ON deals (company_id, outcome, created_at, id) WHERE outcome IS NOT NULL;
CREATE INDEX IF NOT EXISTS deals_address_idx ON deals (company_id, address_id, created_at, id) WHERE address_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS deals_source_idx ON deals (company_id, source_id, created_at, id) WHERE source_id IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS deals_external_id_key ON deals (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS deals_channel_idx ON deals (company_id, channel, created_at, id);
CREATE INDEX IF NOT EXISTS deals_source_name_idx ON deals (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS deals_phone_digits_idx ON deals (company_id, (regexp_replace(customer_phone, '[^0-9]', '', 'g'))) WHERE customer_phone IS NOT NULL;
CREATE INDEX IF NOT EXISTS deals_search_idx ON deals USING GIN (company_id, search_text gin_trgm_ops);

-- A line of a deal.
CREATE TABLE IF NOT EXISTS deal_lines (
    company_id      UUID NOT NULL,
    deal_id         UUID NOT NULL,
    id              UUID NOT NULL,
    sort_order      INT4 NOT NULL,
    kind            TEXT NOT NULL,
    ref_id          UUID,
    variant_id      UUID,
    sku             TEXT,
    name            TEXT NOT NULL,
    unit            TEXT,
    qty             DECIMAL(18,3) NOT NULL,
    per_guest       BOOLEAN NOT NULL,
    effective_qty   DECIMAL(18,3) NOT NULL,
    unit_price      BIGINT NOT NULL,
    unit_cost       BIGINT NOT NULL,
    amount          BIGINT NOT NULL,
    discount_bp     INT4 NOT NULL DEFAULT 0,
    fixed_discount  BIGINT NOT NULL DEFAULT 0,
    discount_amount BIGINT NOT NULL,
    tax_rate_id     UUID,
    tax_rate_bp     INT4, -- percent of tax_rate_id when the line was made
    tax_amount      BIGINT NOT NULL DEFAULT 0,
    total           BIGINT NOT NULL,
    cost            BIGINT NOT NULL,
    modifiers       TEXT NOT NULL,
    note            TEXT,
    CONSTRAINT deal_lines_pkey PRIMARY KEY (company_id, deal_id, id),
    CONSTRAINT deal_lines_kind_chk CHECK (kind IN ('product', 'service', 'custom'))
);

-- A move of a deal between stages; version is that of the deal after the move. Insert-only.
CREATE TABLE IF NOT EXISTS deal_history (
    company_id     UUID NOT NULL,
    deal_id        UUID NOT NULL,
    version        BIGINT NOT NULL,
    from_stage_id  UUID NOT NULL,
    to_stage_id    UUID NOT NULL,
    from_outcome   TEXT,
    to_outcome     TEXT,
    lost_reason_id UUID,
    actor_id       TEXT NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT deal_history_pkey PRIMARY KEY (company_id, deal_id, version)
);

-- ---- Orders, their payments and shipments ----

-- An order.
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
    external_id           TEXT,
    metadata              JSONB NOT NULL DEFAULT '{}',
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
    fixed_discount        BIGINT NOT NULL DEFAULT 0,
    coupon_code           TEXT,
    discount_amount       BIGINT NOT NULL,
    tax_amount            BIGINT NOT NULL DEFAULT 0,
    total                 BIGINT NOT NULL,
    taxes                 JSONB NOT NULL DEFAULT '[]', -- sums of the lines by rate
    tax_mode              TEXT NOT NULL DEFAULT 'included', -- of the company when the document was created, as tax_rounding
    tax_rounding          TEXT NOT NULL DEFAULT 'line',
    returned_amount       BIGINT NOT NULL DEFAULT 0,
    returned_tax          BIGINT NOT NULL DEFAULT 0,
    returned_delivery     BIGINT NOT NULL DEFAULT 0,
    cost                  BIGINT NOT NULL DEFAULT 0, -- of the lines whose cost is known
    costed                BIGINT NOT NULL DEFAULT 0, -- net revenue of these lines
    prepaid_amount        BIGINT NOT NULL,
    was_paid              BOOLEAN NOT NULL,
    is_out                BOOLEAN NOT NULL DEFAULT false,
    lines_count           INT4 NOT NULL,
    created_by_id         UUID,
    assigned_to_id        UUID,
    completed_at          TIMESTAMPTZ,
    cancelled_at          TIMESTAMPTZ,
    cancel_reason         TEXT,
    search_text           TEXT NOT NULL,
    version               BIGINT NOT NULL,
    ev_pos                BIGINT NOT NULL,
    created_at            TIMESTAMPTZ NOT NULL,
    updated_at            TIMESTAMPTZ NOT NULL,
    CONSTRAINT orders_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT orders_status_chk CHECK (status IN ('new', 'confirmed', 'in_progress', 'ready', 'completed', 'cancelled')),
    CONSTRAINT orders_payment_status_chk CHECK (payment_status IN ('unpaid', 'partial', 'paid', 'refunded')),
    CONSTRAINT orders_paid_chk CHECK (prepaid_amount >= 0 AND prepaid_amount <= total + delivery_cost),
    CONSTRAINT orders_returned_chk CHECK (returned_amount >= 0 AND returned_amount <= total + delivery_cost)
);

CREATE UNIQUE INDEX IF NOT EXISTS orders_number_key ON orders (company_id, number);
CREATE INDEX IF NOT EXISTS orders_updated_idx ON orders (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS orders_customer_idx ON orders (company_id, customer_id, created_at, id) WHERE customer_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_list_idx ON orders (company_id, created_at, id, status, payment_status, assigned_to_id, customer_id, created_by_id, due_at);
CREATE INDEX IF NOT EXISTS orders_status_list_idx ON orders (company_id, status, created_at, id, payment_status, assigned_to_id);
CREATE INDEX IF NOT EXISTS orders_payment_status_idx ON orders (company_id, payment_status, id, status, assigned_to_id);
CREATE INDEX IF NOT EXISTS orders_assigned_idx ON orders (company_id, assigned_to_id, created_at, id, status, payment_status) WHERE assigned_to_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_total_idx ON orders (company_id, total, id, status, payment_status);
CREATE INDEX IF NOT EXISTS orders_due_idx ON orders (company_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_ready_idx ON orders (company_id, ready_by, id) WHERE ready_by IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_pay_due_idx ON orders (company_id, pay_due_at, id) WHERE pay_due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_created_by_idx ON orders (company_id, created_by_id, created_at, id);
CREATE UNIQUE INDEX IF NOT EXISTS orders_external_id_key ON orders (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_deal_idx ON orders (company_id, deal_id, created_at, id) WHERE deal_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_channel_idx ON orders (company_id, channel, created_at, id);
CREATE INDEX IF NOT EXISTS orders_delivery_method_idx ON orders (company_id, delivery_method, created_at, id) WHERE delivery_method IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_source_name_idx ON orders (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_status_payment_idx ON orders (company_id, status, id, payment_status);
CREATE INDEX IF NOT EXISTS orders_phone_digits_idx ON orders (company_id, (regexp_replace(customer_phone, '[^0-9]', '', 'g'))) WHERE customer_phone IS NOT NULL;
CREATE INDEX IF NOT EXISTS orders_search_idx ON orders USING GIN (company_id, search_text gin_trgm_ops);

-- A line of an order. stock lists the stock items of the line: [{"productId", "variantId", "qty"}], several entries for a bundle.
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
    discount_bp     INT4 NOT NULL DEFAULT 0,
    fixed_discount  BIGINT NOT NULL DEFAULT 0,
    discount_amount BIGINT NOT NULL,
    tax_rate_id     UUID,
    tax_rate_bp     INT4, -- percent of tax_rate_id when the line was made
    tax_amount      BIGINT NOT NULL DEFAULT 0,
    total           BIGINT NOT NULL,
    reserved_qty    DECIMAL(18,3) NOT NULL,
    shipped_qty     DECIMAL(18,3) NOT NULL,
    returned_qty    DECIMAL(18,3) NOT NULL DEFAULT 0,
    returned_amount BIGINT NOT NULL DEFAULT 0,
    returned_tax    BIGINT NOT NULL DEFAULT 0,
    returned_share  BIGINT NOT NULL DEFAULT 0,
    unit_cost       BIGINT, -- of the item when the line was made; NULL = not known
    cost            BIGINT, -- of what has not come back
    modifiers       TEXT NOT NULL,
    stock           TEXT NOT NULL,
    note            TEXT,
    CONSTRAINT order_lines_pkey PRIMARY KEY (company_id, order_id, id),
    CONSTRAINT order_lines_kind_chk CHECK (kind IN ('product', 'service', 'custom'))
);

-- A payment of an order or, with a negative delta, a refund. prepaid_amount of the order is the sum of its deltas.
CREATE TABLE IF NOT EXISTS order_payments (
    company_id      UUID NOT NULL,
    order_id        UUID NOT NULL,
    id              UUID NOT NULL,
    delta           BIGINT NOT NULL,
    method          TEXT NOT NULL DEFAULT 'unspecified',
    method_ext      TEXT,
    paid_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    refund_of_id    UUID,
    return_id       UUID,
    refunded_amount BIGINT NOT NULL DEFAULT 0,
    reason          TEXT,
    reference       TEXT,
    note            TEXT,
    source          TEXT,
    external_id     TEXT,
    metadata        JSONB NOT NULL DEFAULT '{}',
    created_by_id   UUID,
    search_text     TEXT NOT NULL DEFAULT '',
    version         BIGINT NOT NULL DEFAULT 1,
    ev_pos          BIGINT NOT NULL DEFAULT 0,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT order_payments_pkey PRIMARY KEY (company_id, order_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS order_payments_id_key ON order_payments (company_id, id);
CREATE UNIQUE INDEX IF NOT EXISTS order_payments_external_id_key ON order_payments (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
-- Lists and sums of a period are read in the index alone.
CREATE INDEX IF NOT EXISTS order_payments_paid_idx ON order_payments (company_id, paid_at, id, method, delta);
CREATE INDEX IF NOT EXISTS order_payments_method_idx ON order_payments (company_id, method, paid_at, id);
CREATE INDEX IF NOT EXISTS order_payments_refunds_idx ON order_payments (company_id, paid_at, id) WHERE delta < 0;
CREATE INDEX IF NOT EXISTS order_payments_updated_idx ON order_payments (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS order_payments_source_name_idx ON order_payments (company_id, source, paid_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS order_payments_reference_idx ON order_payments (company_id, reference, paid_at, id) WHERE reference IS NOT NULL;
CREATE INDEX IF NOT EXISTS order_payments_return_idx ON order_payments (company_id, return_id, paid_at, id) WHERE return_id IS NOT NULL;
-- Most payments have no text. A search names the condition.
CREATE INDEX IF NOT EXISTS order_payments_search_idx ON order_payments USING GIN (company_id, search_text gin_trgm_ops) WHERE search_text <> '';

-- A changed field of an order, with values as JSON as clients see them.
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

-- A shipment of an order: goods that left a warehouse. lines is what clients see; taken lists what the shipment took from stock:
-- [{"lineId", "productId", "variantId", "qty"}].
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
    search_text     TEXT NOT NULL DEFAULT '',
    version         BIGINT NOT NULL,
    ev_pos          BIGINT NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT shipments_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT shipments_status_chk CHECK (status IN ('posted', 'cancelled'))
);

CREATE UNIQUE INDEX IF NOT EXISTS shipments_number_key ON shipments (company_id, number);
CREATE INDEX IF NOT EXISTS shipments_order_idx ON shipments (company_id, order_id, number);
CREATE INDEX IF NOT EXISTS shipments_created_idx ON shipments (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS shipments_updated_idx ON shipments (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS shipments_shipped_idx ON shipments (company_id, shipped_at, id);
CREATE INDEX IF NOT EXISTS shipments_tracking_idx ON shipments (company_id, tracking_number) WHERE tracking_number IS NOT NULL;
CREATE INDEX IF NOT EXISTS shipments_search_idx ON shipments USING GIN (company_id, search_text gin_trgm_ops) WHERE search_text <> '';

-- A return of goods of an order. lines is what clients see; taken lists what the return put back on stock, or wrote off:
-- [{"lineId", "productId", "variantId", "qty"}]. returned_amount of the order is the sum of the totals of its posted returns.
CREATE TABLE IF NOT EXISTS order_returns (
    company_id      UUID NOT NULL,
    id              UUID NOT NULL,
    order_id        UUID NOT NULL,
    number          BIGINT NOT NULL,
    status          TEXT NOT NULL,
    warehouse_id    UUID,
    reason          TEXT,
    note            TEXT,
    returned_at     TIMESTAMPTZ NOT NULL,
    total_qty       DECIMAL(18,3) NOT NULL,
    amount          BIGINT NOT NULL,
    tax_amount      BIGINT NOT NULL DEFAULT 0,
    taxes           JSONB NOT NULL DEFAULT '[]',
    delivery_amount BIGINT NOT NULL,
    fee             BIGINT NOT NULL,
    total           BIGINT NOT NULL,
    refunded_amount BIGINT NOT NULL,
    lines           JSONB NOT NULL,
    taken           JSONB NOT NULL,
    source          TEXT,
    external_id     TEXT,
    metadata        JSONB NOT NULL DEFAULT '{}',
    created_by_id   UUID,
    cancelled_at    TIMESTAMPTZ,
    search_text     TEXT NOT NULL,
    version         BIGINT NOT NULL,
    ev_pos          BIGINT NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT order_returns_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT order_returns_status_chk CHECK (status IN ('posted', 'cancelled')),
    CONSTRAINT order_returns_total_chk CHECK (total >= 0)
);

CREATE UNIQUE INDEX IF NOT EXISTS order_returns_number_key ON order_returns (company_id, number);
CREATE UNIQUE INDEX IF NOT EXISTS order_returns_external_id_key ON order_returns (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS order_returns_order_idx ON order_returns (company_id, order_id, returned_at, id);
CREATE INDEX IF NOT EXISTS order_returns_returned_idx ON order_returns (company_id, returned_at, id, status);
CREATE INDEX IF NOT EXISTS order_returns_updated_idx ON order_returns (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS order_returns_source_name_idx ON order_returns (company_id, source, returned_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS order_returns_search_idx ON order_returns USING GIN (company_id, search_text gin_trgm_ops) WHERE search_text <> '';

-- ---- Sales at a till ----

-- A shift at a till, of one cashier. The sales of the shift maintain the totals; cash_total, card_total and sbp_total are without
-- what was refunded.
CREATE TABLE IF NOT EXISTS shifts (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    number        BIGINT NOT NULL,
    status        TEXT NOT NULL,
    branch_id     UUID,
    opened_at     TIMESTAMPTZ NOT NULL,
    closed_at     TIMESTAMPTZ,
    opened_by_id  UUID NOT NULL,
    cashier_id    UUID, -- NULL = the token that opened the shift
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
    cash_in       BIGINT NOT NULL DEFAULT 0, -- the cash movements of the shift add up to cash_in and cash_out
    cash_out      BIGINT NOT NULL DEFAULT 0,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT shifts_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT shifts_status_chk CHECK (status IN ('open', 'closed')),
    CONSTRAINT shifts_totals_chk CHECK (sales_total <= 9007199254740991 AND refunds_total <= 9007199254740991),
    CONSTRAINT shifts_cash_in_chk CHECK (cash_in <= 9007199254740991),
    CONSTRAINT shifts_cash_out_chk CHECK (cash_out <= 9007199254740991)
);

CREATE UNIQUE INDEX IF NOT EXISTS shifts_open_key ON shifts (company_id, opened_by_id) WHERE status = 'open';
CREATE UNIQUE INDEX IF NOT EXISTS shifts_number_key ON shifts (company_id, number);
CREATE INDEX IF NOT EXISTS shifts_created_idx ON shifts (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS shifts_updated_idx ON shifts (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS shifts_cashier_idx ON shifts (company_id, (COALESCE(cashier_id, opened_by_id)), created_at, id);

-- Cash that was put into a till or taken out during a shift.
CREATE TABLE IF NOT EXISTS cash_movements (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    shift_id      UUID NOT NULL,
    type          TEXT NOT NULL,
    amount        BIGINT NOT NULL,
    reason        TEXT NOT NULL,
    occurred_at   TIMESTAMPTZ NOT NULL,
    late          BOOLEAN NOT NULL DEFAULT false, -- sent after its shift was closed
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

-- A sale at a till, or a refund of one.
CREATE TABLE IF NOT EXISTS sales (
    company_id          UUID NOT NULL,
    id                  UUID NOT NULL,
    shift_id            UUID NOT NULL,
    number              BIGINT NOT NULL,
    kind                TEXT NOT NULL,
    sold_at             TIMESTAMPTZ NOT NULL, -- created_at, or the time before it that the client says
    late                BOOLEAN NOT NULL DEFAULT false, -- sent after its shift was closed
    subtotal            BIGINT NOT NULL,
    discount_percent_bp INT4 NOT NULL,
    fixed_discount      BIGINT NOT NULL DEFAULT 0,
    coupon_code         TEXT,
    discount_amount     BIGINT NOT NULL,
    tax_amount          BIGINT NOT NULL DEFAULT 0,
    total               BIGINT NOT NULL,
    taxes               JSONB NOT NULL DEFAULT '[]', -- sums of the lines by rate
    tax_mode            TEXT NOT NULL DEFAULT 'included', -- of the company when the document was created, as tax_rounding
    tax_rounding        TEXT NOT NULL DEFAULT 'line',
    cost                BIGINT NOT NULL DEFAULT 0, -- of the lines whose cost is known
    costed              BIGINT NOT NULL DEFAULT 0, -- net revenue of these lines
    redeemed_points     BIGINT NOT NULL,
    earned_points       BIGINT NOT NULL,
    payment_method      TEXT NOT NULL,
    payment_method_ext  TEXT,
    received_amount     BIGINT,
    change_amount       BIGINT,
    cashier_id          UUID NOT NULL,
    created_by_id       UUID NOT NULL,
    refund_of_sale_id   UUID,
    refunded_by_sale_id UUID,
    -- refunded_by_sale_id is the last refund of a sale; this tells whether all refunds together are less than the sale.
    partly_refunded     BOOLEAN NOT NULL DEFAULT false,
    refunded_total      BIGINT NOT NULL DEFAULT 0,
    reason              TEXT,
    customer_id         UUID,
    customer_name       TEXT,
    customer_phone      TEXT,
    channel             TEXT,
    warehouse_id        UUID,
    lines_count         INT4 NOT NULL,
    source              TEXT,
    external_id         TEXT,
    metadata            JSONB NOT NULL DEFAULT '{}',
    search_text         TEXT NOT NULL,
    version             BIGINT NOT NULL,
    ev_pos              BIGINT NOT NULL,
    created_at          TIMESTAMPTZ NOT NULL,
    updated_at          TIMESTAMPTZ NOT NULL,
    CONSTRAINT sales_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT sales_kind_chk CHECK (kind IN ('sale', 'refund')),
    CONSTRAINT sales_payment_method_chk CHECK (payment_method IN ('cash', 'card', 'sbp', 'mixed')),
    CONSTRAINT sales_total_chk CHECK (
        total = subtotal - discount_amount - redeemed_points + CASE tax_mode WHEN 'added' THEN tax_amount ELSE 0 END AND total >= 0
    )
);

CREATE UNIQUE INDEX IF NOT EXISTS sales_number_key ON sales (company_id, number);
CREATE INDEX IF NOT EXISTS sales_created_idx ON sales (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS sales_sold_idx ON sales (company_id, sold_at, id);
CREATE INDEX IF NOT EXISTS sales_updated_idx ON sales (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS sales_total_idx ON sales (company_id, total, id);
CREATE INDEX IF NOT EXISTS sales_shift_idx ON sales (company_id, shift_id, created_at, id);
CREATE INDEX IF NOT EXISTS sales_cashier_idx ON sales (company_id, cashier_id, created_at, id);
CREATE INDEX IF NOT EXISTS sales_customer_idx ON sales (company_id, customer_id, created_at, id) WHERE customer_id IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS sales_external_id_key ON sales (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS sales_source_name_idx ON sales (company_id, source, created_at, id) WHERE source IS NOT NULL;
-- A sale can have several refunds. Of two that run at once, one finds another refunded_by_sale_id than it has read.
CREATE INDEX IF NOT EXISTS sales_refunds_idx ON sales (company_id, refund_of_sale_id, created_at, id) WHERE refund_of_sale_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS sales_refunded_idx ON sales (company_id, partly_refunded, created_at, id) WHERE refunded_by_sale_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS sales_phone_digits_idx ON sales (company_id, (regexp_replace(customer_phone, '[^0-9]', '', 'g'))) WHERE customer_phone IS NOT NULL;
CREATE INDEX IF NOT EXISTS sales_search_idx ON sales USING GIN (company_id, search_text gin_trgm_ops);

-- A line of a sale. stock lists what the line took from stock: [{"productId", "variantId", "qty"}], several entries for a bundle.
CREATE TABLE IF NOT EXISTS sale_lines (
    company_id        UUID NOT NULL,
    sale_id           UUID NOT NULL,
    id                UUID NOT NULL,
    sort_order        INT4 NOT NULL,
    kind              TEXT NOT NULL,
    ref_id            UUID,
    variant_id        UUID,
    sku               TEXT,
    name              TEXT NOT NULL,
    unit              TEXT,
    qty               DECIMAL(18,3) NOT NULL,
    unit_price        BIGINT NOT NULL,
    amount            BIGINT NOT NULL,
    discount_bp       INT4 NOT NULL DEFAULT 0,
    fixed_discount    BIGINT NOT NULL DEFAULT 0,
    discount_amount   BIGINT NOT NULL,
    tax_rate_id       UUID,
    tax_rate_bp       INT4, -- percent of tax_rate_id when the line was made
    tax_amount        BIGINT NOT NULL DEFAULT 0,
    total             BIGINT NOT NULL,
    refunded_qty      DECIMAL(18,3) NOT NULL DEFAULT 0, -- what refunds of parts have taken of the line
    refund_of_line_id UUID,
    unit_cost         BIGINT, -- of the item when the line was made; NULL = not known
    cost              BIGINT,
    modifiers         TEXT NOT NULL,
    stock             TEXT NOT NULL,
    CONSTRAINT sale_lines_pkey PRIMARY KEY (company_id, sale_id, id),
    CONSTRAINT sale_lines_kind_chk CHECK (kind IN ('product', 'service', 'custom')),
    CONSTRAINT sale_lines_refunded_chk CHECK (refunded_qty >= 0 AND refunded_qty <= qty)
);

-- A payment of a sale, whose total is the sum of their amounts. Insert-only.
CREATE TABLE IF NOT EXISTS sale_payments (
    company_id         UUID NOT NULL,
    sale_id            UUID NOT NULL,
    id                 UUID NOT NULL,
    sort_order         INT4 NOT NULL,
    payment_method     TEXT NOT NULL,
    payment_method_ext TEXT,
    amount             BIGINT NOT NULL,
    refunded_amount    BIGINT NOT NULL DEFAULT 0, -- what refunds of parts have taken of the payment
    created_at         TIMESTAMPTZ NOT NULL,
    CONSTRAINT sale_payments_pkey PRIMARY KEY (company_id, sale_id, id),
    CONSTRAINT sale_payments_method_chk CHECK (payment_method IN ('cash', 'card', 'sbp')),
    CONSTRAINT sale_payments_amount_chk CHECK (amount > 0),
    CONSTRAINT sale_payments_refunded_chk CHECK (refunded_amount >= 0 AND refunded_amount <= amount)
);

-- A sale that was begun and put aside. sale holds fields of the body of a sale, which nothing has checked against other records.
CREATE TABLE IF NOT EXISTS sale_drafts (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    name          TEXT NOT NULL,
    sale          JSONB NOT NULL,
    expires_at    TIMESTAMPTZ NOT NULL,
    created_by_id UUID NOT NULL,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT sale_drafts_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS sale_drafts_created_idx ON sale_drafts (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS sale_drafts_updated_idx ON sale_drafts (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS sale_drafts_live_idx ON sale_drafts (company_id, expires_at);

-- ---- Scheduling ----

-- A resource that can be booked. Whoever adds or moves a use of it locks the row and increments uses_changed.
CREATE TABLE IF NOT EXISTS scheduling_resources (
    company_id        UUID NOT NULL,
    id                UUID NOT NULL,
    type              TEXT NOT NULL,
    name              TEXT NOT NULL,
    description       TEXT,
    branch_id         UUID,
    user_id           UUID,
    service_ids       UUID[] NOT NULL,
    only_listed_services BOOLEAN NOT NULL DEFAULT FALSE,
    capacity          INT4,
    parallel_bookings INT4 NOT NULL,
    slot_step_minutes INT4 NOT NULL,
    buffer_before_minutes INT4 NOT NULL DEFAULT 0,
    buffer_after_minutes INT4 NOT NULL DEFAULT 0,
    time_zone         TEXT NOT NULL,
    working_hours     JSONB NOT NULL,
    is_active         BOOLEAN NOT NULL,
    color             TEXT,
    photo_file_id     UUID,
    sort_order        INT4 NOT NULL,
    search_text       TEXT NOT NULL,
    uses_changed      BIGINT NOT NULL DEFAULT 0,
    version           BIGINT NOT NULL,
    ev_pos            BIGINT NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    CONSTRAINT scheduling_resources_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT scheduling_resources_type_chk CHECK (type IN ('staff', 'seat', 'unit', 'equipment')),
    CONSTRAINT scheduling_resources_parallel_chk CHECK (parallel_bookings >= 1)
);

CREATE INDEX IF NOT EXISTS scheduling_resources_created_idx ON scheduling_resources (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS scheduling_resources_updated_idx ON scheduling_resources (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS scheduling_resources_name_idx ON scheduling_resources (company_id, (name COLLATE und), id);
CREATE INDEX IF NOT EXISTS scheduling_resources_type_idx ON scheduling_resources (company_id, type, id);
CREATE INDEX IF NOT EXISTS scheduling_resources_search_idx ON scheduling_resources USING GIN (company_id, search_text gin_trgm_ops);

-- Other hours on some days, of one resource or of all (resource_id is null). Without hours, the days are closed.
CREATE TABLE IF NOT EXISTS schedule_exceptions (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    name        TEXT NOT NULL,
    resource_id UUID,
    date_from   DATE NOT NULL,
    date_to     DATE NOT NULL,
    hours       JSONB NOT NULL,
    search_text TEXT NOT NULL,
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT schedule_exceptions_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT schedule_exceptions_days_chk CHECK (date_from <= date_to)
);

CREATE INDEX IF NOT EXISTS schedule_exceptions_created_idx ON schedule_exceptions (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS schedule_exceptions_updated_idx ON schedule_exceptions (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS schedule_exceptions_from_idx ON schedule_exceptions (company_id, date_from, id);
CREATE INDEX IF NOT EXISTS schedule_exceptions_to_idx ON schedule_exceptions (company_id, date_to);
CREATE INDEX IF NOT EXISTS schedule_exceptions_name_idx ON schedule_exceptions (company_id, (name COLLATE und), id);
CREATE INDEX IF NOT EXISTS schedule_exceptions_search_idx ON schedule_exceptions USING GIN (company_id, search_text gin_trgm_ops);

-- A booking of a resource. Names are those at the time of the booking.
CREATE TABLE IF NOT EXISTS bookings (
    company_id       UUID NOT NULL,
    id               UUID NOT NULL,
    number           BIGINT NOT NULL,
    resource_id      UUID NOT NULL,
    service_id       UUID,
    client_id        UUID,
    customer_name    TEXT NOT NULL,
    customer_phone   TEXT NOT NULL,
    customer_email   TEXT,
    start_at         TIMESTAMPTZ NOT NULL,
    duration_minutes INT4 NOT NULL,
    headcount        INT4,
    note             TEXT,
    external_id      TEXT,
    metadata         JSONB NOT NULL DEFAULT '{}',
    resource_name    TEXT NOT NULL,
    service_name     TEXT,
    end_at           TIMESTAMPTZ NOT NULL,
    buffer_before_minutes INT4 NOT NULL DEFAULT 0,
    buffer_after_minutes INT4 NOT NULL DEFAULT 0,
    status           TEXT NOT NULL,
    price            BIGINT,
    source           TEXT NOT NULL,
    cancel_reason    TEXT,
    created_by_id    UUID,
    confirmed_at     TIMESTAMPTZ,
    completed_at     TIMESTAMPTZ,
    cancelled_at     TIMESTAMPTZ,
    link_number      INT4 NOT NULL DEFAULT 0, -- counts the customers that links were made for
    reminder_at      TIMESTAMPTZ, -- when the next reminder is due
    search_text      TEXT NOT NULL,
    version          BIGINT NOT NULL,
    ev_pos           BIGINT NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    updated_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT bookings_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT bookings_status_chk CHECK (status IN ('pending', 'confirmed', 'completed', 'no_show', 'cancelled')),
    CONSTRAINT bookings_time_chk CHECK (start_at < end_at)
);

CREATE UNIQUE INDEX IF NOT EXISTS bookings_number_key ON bookings (company_id, number);
CREATE INDEX IF NOT EXISTS bookings_created_idx ON bookings (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS bookings_updated_idx ON bookings (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS bookings_start_idx ON bookings (company_id, start_at, id);
CREATE INDEX IF NOT EXISTS bookings_resource_idx ON bookings (company_id, resource_id, start_at, id);
CREATE INDEX IF NOT EXISTS bookings_client_idx ON bookings (company_id, client_id, id) WHERE client_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS bookings_service_idx ON bookings (company_id, service_id, start_at, id) WHERE service_id IS NOT NULL;
-- The reminders of all companies in the order in which they are due. Rows leave it when their last reminder was raised.
CREATE INDEX IF NOT EXISTS bookings_reminder_idx ON bookings (reminder_at, company_id, id) WHERE reminder_at IS NOT NULL;
-- Bookings that name no source have the source api. Their external ids are not unique.
CREATE UNIQUE INDEX IF NOT EXISTS bookings_external_id_key ON bookings (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL AND source <> 'api';
CREATE INDEX IF NOT EXISTS bookings_external_idx ON bookings (company_id, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS bookings_source_name_idx ON bookings (company_id, source, created_at, id) WHERE source IS NOT NULL;
CREATE INDEX IF NOT EXISTS bookings_status_idx ON bookings (company_id, status, start_at, id);
CREATE INDEX IF NOT EXISTS bookings_phone_digits_idx ON bookings (company_id, (regexp_replace(customer_phone, '[^0-9]', '', 'g'))) WHERE customer_phone IS NOT NULL;
CREATE INDEX IF NOT EXISTS bookings_search_idx ON bookings USING GIN (company_id, search_text gin_trgm_ops);

-- A company that has set other reminders of bookings: how far they are planned anew. Few rows at any time.
CREATE TABLE IF NOT EXISTS booking_replans (
    company_id  UUID NOT NULL,
    due_at      TIMESTAMPTZ NOT NULL, -- when no caller has the settings before any more
    after_start TIMESTAMPTZ NOT NULL, -- the last booking that was planned
    after_id    UUID NOT NULL,
    CONSTRAINT booking_replans_pkey PRIMARY KEY (company_id)
);

CREATE INDEX IF NOT EXISTS booking_replans_due_idx ON booking_replans (due_at);

-- A place of a resource that is held until expires_at. After that the row has no effect, and is deleted some time.
CREATE TABLE IF NOT EXISTS booking_holds (
    company_id            UUID NOT NULL,
    id                    UUID NOT NULL,
    resource_id           UUID NOT NULL,
    service_id            UUID,
    start_at              TIMESTAMPTZ NOT NULL,
    duration_minutes      INT4 NOT NULL,
    headcount             INT4,
    hold_minutes          INT4 NOT NULL,
    end_at                TIMESTAMPTZ NOT NULL,
    buffer_before_minutes INT4 NOT NULL,
    buffer_after_minutes  INT4 NOT NULL,
    expires_at            TIMESTAMPTZ NOT NULL,
    created_by_id         UUID,
    version               BIGINT NOT NULL,
    ev_pos                BIGINT NOT NULL,
    created_at            TIMESTAMPTZ NOT NULL,
    updated_at            TIMESTAMPTZ NOT NULL,
    CONSTRAINT booking_holds_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT booking_holds_time_chk CHECK (start_at < end_at)
);

CREATE INDEX IF NOT EXISTS booking_holds_created_idx ON booking_holds (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS booking_holds_updated_idx ON booking_holds (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS booking_holds_start_idx ON booking_holds (company_id, start_at, id);
CREATE INDEX IF NOT EXISTS booking_holds_resource_idx ON booking_holds (company_id, resource_id, start_at);
CREATE INDEX IF NOT EXISTS booking_holds_live_idx ON booking_holds (company_id, expires_at);

-- A deal that takes a resource as its venue from start_at to end_at, the buffers of the resource included. Bookings and other deals must not overlap it.
CREATE TABLE IF NOT EXISTS venue_uses (
    company_id  UUID NOT NULL,
    deal_id     UUID NOT NULL,
    resource_id UUID NOT NULL,
    start_at    TIMESTAMPTZ NOT NULL,
    end_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT venue_uses_pkey PRIMARY KEY (company_id, deal_id),
    CONSTRAINT venue_uses_time_chk CHECK (start_at < end_at)
);

CREATE INDEX IF NOT EXISTS venue_uses_resource_idx ON venue_uses (company_id, resource_id, start_at);

-- ---- The calendar ----

-- An entry in the calendar of a company. It belongs to a booking or a deal, which has at most one, or was made by hand.
CREATE TABLE IF NOT EXISTS calendar_events (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    title         TEXT NOT NULL,
    kind          TEXT NOT NULL,
    start_at      TIMESTAMPTZ NOT NULL,
    end_at        TIMESTAMPTZ NOT NULL,
    all_day       BOOLEAN NOT NULL,
    resource_id   UUID,
    booking_id    UUID,
    deal_id       UUID,
    client_id     UUID,
    status        TEXT,
    created_by_id UUID,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT calendar_events_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT calendar_events_kind_chk CHECK (kind IN ('booking', 'deal', 'manual'))
);

CREATE UNIQUE INDEX IF NOT EXISTS calendar_events_booking_key ON calendar_events (company_id, booking_id) WHERE booking_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS calendar_events_client_idx ON calendar_events (company_id, client_id) WHERE client_id IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS calendar_events_deal_key ON calendar_events (company_id, deal_id) WHERE deal_id IS NOT NULL;

-- ---- Files ----

-- An image that a company has uploaded. Its contents are in file_chunks or in a bucket.
CREATE TABLE IF NOT EXISTS files (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    name        TEXT NOT NULL,
    media_type  TEXT NOT NULL,
    size        BIGINT NOT NULL,
    width       INT4 NOT NULL,
    height      INT4 NOT NULL,
    sha256      TEXT NOT NULL,
    thumbnails  JSONB NOT NULL,
    search_text TEXT NOT NULL,
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT files_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS files_created_idx ON files (company_id, created_at, id);
CREATE INDEX IF NOT EXISTS files_updated_idx ON files (company_id, updated_at, id);
CREATE INDEX IF NOT EXISTS files_name_idx ON files (company_id, name, id);
CREATE INDEX IF NOT EXISTS files_sha256_idx ON files (company_id, sha256, created_at, id);
CREATE INDEX IF NOT EXISTS files_search_idx ON files USING GIN (company_id, search_text gin_trgm_ops);

-- A record that refers to a file. The foreign key keeps a file from being deleted while a record begins to refer to it, whatever
-- the isolation of the transactions.
CREATE TABLE IF NOT EXISTS file_uses (
    company_id UUID NOT NULL,
    file_id    UUID NOT NULL,
    entity     TEXT NOT NULL,
    record_id  UUID NOT NULL,
    CONSTRAINT file_uses_pkey PRIMARY KEY (company_id, file_id, entity, record_id),
    CONSTRAINT file_uses_file_fkey FOREIGN KEY (company_id, file_id) REFERENCES files (company_id, id)
);

-- Contents that may exist, written before they are. At due_at the sweeper looks whether a file and references to it exist, and
-- removes the contents if they do not; NULL = not before a reference is removed. bytes count towards the quota of the company.
CREATE TABLE IF NOT EXISTS file_blobs (
    company_id UUID NOT NULL,
    file_id    UUID NOT NULL,
    bytes      BIGINT NOT NULL,
    due_at     TIMESTAMPTZ,
    CONSTRAINT file_blobs_pkey PRIMARY KEY (company_id, file_id)
);

CREATE INDEX IF NOT EXISTS file_blobs_due_idx ON file_blobs (due_at, company_id, file_id) WHERE due_at IS NOT NULL;

-- A piece of the contents of a file, for installations without a bucket.
CREATE TABLE IF NOT EXISTS file_chunks (
    company_id UUID NOT NULL,
    file_id    UUID NOT NULL,
    part       TEXT NOT NULL,
    n          INT4 NOT NULL,
    body       BYTEA NOT NULL,
    CONSTRAINT file_chunks_pkey PRIMARY KEY (company_id, file_id, part, n)
);

-- ---- Reports ----

-- The sums of a report for one day that is over; see docs/architecture.md#reports. They hold while the day still has these bounds
-- and form, and its records had as many changes as day_changes counts now. keys and amounts hold one group of records after the
-- other.
CREATE TABLE IF NOT EXISTS day_sums (
    company_id UUID NOT NULL,
    report     TEXT NOT NULL,
    day        DATE NOT NULL, -- in the time zone of the company
    starts_at  TIMESTAMPTZ NOT NULL,
    ends_at    TIMESTAMPTZ NOT NULL,
    form       INT4 NOT NULL,
    changes    BIGINT NOT NULL,
    keys       TEXT[] NOT NULL,
    amounts    BIGINT[] NOT NULL,
    CONSTRAINT day_sums_pkey PRIMARY KEY (company_id, report, day)
);

-- Changes of records of a report whose day may be over, inserted by the transaction of the change, so that changes do not wait
-- for each other. Reports merge rows of a day into one with the sum of n.
CREATE TABLE IF NOT EXISTS day_changes (
    company_id UUID NOT NULL,
    report     TEXT NOT NULL,
    day        DATE NOT NULL, -- in UTC
    id         UUID NOT NULL,
    n          BIGINT NOT NULL,
    CONSTRAINT day_changes_pkey PRIMARY KEY (company_id, report, day, id)
);
