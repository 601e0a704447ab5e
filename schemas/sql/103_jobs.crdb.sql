ALTER TABLE jobs SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@daily', ttl_disable_changefeed_replication = 'true');

ALTER TABLE job_chunks SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');

-- Open jobs are updated all the time: readers must not scan many old versions.
ALTER TABLE jobs CONFIGURE ZONE USING gc.ttlseconds = 600;
