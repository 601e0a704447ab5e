-- Row-level TTL deletes the rows that the cleanup jobs delete on PostgreSQL, here and in the other rooms, at low priority and with
-- a rate limit per node. Changefeeds do not report these deletions.
ALTER TABLE idempotency_keys SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');
ALTER TABLE tx_markers SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');
ALTER TABLE storage_usage SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@daily', ttl_disable_changefeed_replication = 'true');
ALTER TABLE jobs SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@daily', ttl_disable_changefeed_replication = 'true');
ALTER TABLE job_inputs SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');
ALTER TABLE job_chunks SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');
ALTER TABLE processes SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_disable_changefeed_replication = 'true');
ALTER TABLE notices SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@daily', ttl_disable_changefeed_replication = 'true');

-- Few, frequently updated rows and short-lived rows, here and in the other rooms: readers must not scan many old versions.
ALTER TABLE tx_markers CONFIGURE ZONE USING gc.ttlseconds = 600;
ALTER TABLE jobs CONFIGURE ZONE USING gc.ttlseconds = 600;
ALTER TABLE job_leases CONFIGURE ZONE USING gc.ttlseconds = 600;
ALTER TABLE processes CONFIGURE ZONE USING gc.ttlseconds = 600;
