-- Indexes of the previous release that those of 192 replace.

DROP INDEX IF EXISTS orders_created_idx;

DROP INDEX IF EXISTS orders_status_idx;
