ALTER TABLE job_inputs SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');
