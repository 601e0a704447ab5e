-- How many requests a second the receiver of a subscription gets at most; NULL = as many as it takes.
ALTER TABLE webhook_subscriptions ADD COLUMN IF NOT EXISTS max_per_second INT4;
