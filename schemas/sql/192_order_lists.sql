-- Indexes of the lists of orders. They end with the columns of filters, so that records that do not match are passed over, and
-- matching ones counted, in the index alone.

CREATE INDEX IF NOT EXISTS orders_list_idx ON orders (company_id, created_at, id, status, payment_status, assigned_to_id, customer_id, created_by_id, due_at);

CREATE INDEX IF NOT EXISTS orders_status_list_idx ON orders (company_id, status, created_at, id, payment_status, assigned_to_id);

CREATE INDEX IF NOT EXISTS orders_payment_status_idx ON orders (company_id, payment_status, id, status, assigned_to_id);

CREATE INDEX IF NOT EXISTS orders_assigned_idx ON orders (company_id, assigned_to_id, created_at, id, status, payment_status) WHERE assigned_to_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS orders_total_idx ON orders (company_id, total, id, status, payment_status);

CREATE INDEX IF NOT EXISTS orders_due_idx ON orders (company_id, due_at, id) WHERE due_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS orders_ready_idx ON orders (company_id, ready_by, id) WHERE ready_by IS NOT NULL;

CREATE INDEX IF NOT EXISTS orders_pay_due_idx ON orders (company_id, pay_due_at, id) WHERE pay_due_at IS NOT NULL;
