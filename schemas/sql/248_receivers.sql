-- How many requests a second the receiver of a subscription gets at most; NULL = as many as it takes.
ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS max_per_second INT4;

-- The certificate chain with which the platform identifies itself to the receiver, in PEM, and its encrypted key; empty = none.
ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS client_certificate TEXT NOT NULL DEFAULT '';

ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS client_key TEXT NOT NULL DEFAULT '';
