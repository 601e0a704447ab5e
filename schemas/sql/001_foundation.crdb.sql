ALTER TABLE idempotency_keys SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_disable_changefeed_replication = 'true');

ALTER TABLE tx_markers SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly');

ALTER TABLE events SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@daily');

ALTER TABLE rate_leases SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly');

-- The outbox has constant inserts and deletes: dead rows must not accumulate.
ALTER TABLE outbox CONFIGURE ZONE USING gc.ttlseconds = 600;

ALTER TABLE outbox SPLIT AT SELECT g FROM generate_series(0, 255) AS g;
