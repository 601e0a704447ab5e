-- The indexes by which the release before sorted names.

DROP INDEX IF EXISTS clients_name_idx;

DROP INDEX IF EXISTS products_name_idx;

DROP INDEX IF EXISTS products_sku_idx;

DROP INDEX IF EXISTS products_brand_idx;
