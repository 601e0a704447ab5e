-- Payments of orders become records: with a method, the time of the payment, and ids in other systems. delta stays the signed
-- amount, negative for refunds, and prepaid_amount of an order the sum of its deltas. The release before goes on inserting rows
-- with delta alone: they take the defaults, which are also those of payments recorded by setting prepaidAmount.
ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS method TEXT NOT NULL DEFAULT 'unspecified';

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS method_ext TEXT;

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS paid_at TIMESTAMPTZ NOT NULL DEFAULT now();

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS refund_of_id UUID;

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS refunded_amount BIGINT NOT NULL DEFAULT 0;

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS reason TEXT;

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS reference TEXT;

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS note TEXT;

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS source TEXT;

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS external_id TEXT;

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS metadata JSONB NOT NULL DEFAULT '{}';

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS search_text TEXT NOT NULL DEFAULT '';

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS version BIGINT NOT NULL DEFAULT 1;

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS ev_pos BIGINT NOT NULL DEFAULT 0;

ALTER TABLE order_payments ADD COLUMN IF NOT EXISTS updated_at TIMESTAMPTZ NOT NULL DEFAULT now();

-- Rows with ev_pos 0 are those that the release before has written: their payments were made when they were recorded.
-- batches
UPDATE order_payments SET paid_at = created_at, updated_at = created_at WHERE ev_pos = 0 AND paid_at <> created_at;

CREATE UNIQUE INDEX IF NOT EXISTS order_payments_id_key ON order_payments (company_id, id);

CREATE UNIQUE INDEX IF NOT EXISTS order_payments_external_id_key ON order_payments (company_id, external_id, COALESCE(source, '')) WHERE external_id IS NOT NULL;

-- Lists and sums of a period are read in the index alone.
CREATE INDEX IF NOT EXISTS order_payments_paid_idx ON order_payments (company_id, paid_at, id, method, delta);

CREATE INDEX IF NOT EXISTS order_payments_method_idx ON order_payments (company_id, method, paid_at, id);

CREATE INDEX IF NOT EXISTS order_payments_refunds_idx ON order_payments (company_id, paid_at, id) WHERE delta < 0;

CREATE INDEX IF NOT EXISTS order_payments_updated_idx ON order_payments (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS order_payments_source_name_idx ON order_payments (company_id, source, paid_at, id) WHERE source IS NOT NULL;

CREATE INDEX IF NOT EXISTS order_payments_reference_idx ON order_payments (company_id, reference, paid_at, id) WHERE reference IS NOT NULL;
