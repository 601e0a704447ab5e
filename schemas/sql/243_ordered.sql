-- Ordered subscriptions: the deliveries of a record wait for each other. Only theirs have the two columns.
ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS ordered BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS entity_id UUID;

ALTER TABLE deliveries ADD COLUMN IF NOT EXISTS entity_version BIGINT;

CREATE INDEX IF NOT EXISTS deliveries_ordered_idx ON deliveries (company_id, subscription_id, entity_id, entity_version, event_id) WHERE entity_id IS NOT NULL AND completed_at IS NULL;
