-- Categories, units and products of a company.

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

CREATE TABLE IF NOT EXISTS products (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    category_id UUID,
    status      TEXT NOT NULL,
    CONSTRAINT products_pkey PRIMARY KEY (company_id, id)
);
