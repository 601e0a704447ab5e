-- Indexes that the previous release used to sort names.

DROP INDEX IF EXISTS clients_name_idx;

DROP INDEX IF EXISTS products_name_idx;

DROP INDEX IF EXISTS products_sku_idx;

DROP INDEX IF EXISTS products_brand_idx;
