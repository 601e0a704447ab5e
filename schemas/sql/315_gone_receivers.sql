-- Since when a receiver has answered every attempt with 410 Gone; null when the last one ended otherwise.

ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS gone_since TIMESTAMPTZ;
