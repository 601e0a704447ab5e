-- Headers that a subscription adds to its requests: encrypted, followed by their names in clear; empty = none.
ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS headers TEXT NOT NULL DEFAULT '';
