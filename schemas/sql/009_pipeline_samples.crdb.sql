ALTER TABLE pipeline_samples SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_disable_changefeed_replication = 'true');
