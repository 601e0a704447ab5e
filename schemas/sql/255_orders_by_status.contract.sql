-- The index of the previous release that the one of 254 replaces.

DROP INDEX IF EXISTS orders_status_sort_idx;
