-- Whether deliveries that failed while the receiver was down are sent again when it is back.
ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS auto_redeliver BOOLEAN NOT NULL DEFAULT true;

-- First failed attempt since the last success; NULL while that is short ago. The sender writes it.
ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS failing_since TIMESTAMPTZ;

-- Set by the sender at the first success after an outage, to the beginning of the outage; cleared by the sweeper when it has
-- sent what waited for the receiver.
ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS recovered_from TIMESTAMPTZ;

CREATE INDEX IF NOT EXISTS webhook_subscriptions_recovered_idx ON webhook_subscriptions (company_id, id) WHERE recovered_from IS NOT NULL;
