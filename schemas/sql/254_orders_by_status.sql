-- Replaces orders_status_sort_idx: orders of another payment status are passed over in the index. Unpaid orders are few among the
-- completed ones, which come first.

CREATE INDEX IF NOT EXISTS orders_status_payment_idx ON orders (company_id, status, id, payment_status);
