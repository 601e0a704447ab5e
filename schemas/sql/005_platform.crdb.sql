ALTER TABLE sessions SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@daily', ttl_disable_changefeed_replication = 'true');
ALTER TABLE account_links SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@daily', ttl_disable_changefeed_replication = 'true');
ALTER TABLE sign_in_limits SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@daily', ttl_disable_changefeed_replication = 'true');
ALTER TABLE admin_changes SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@daily', ttl_disable_changefeed_replication = 'true');
ALTER TABLE api_requests SET (ttl_expiration_expression = '((created_at AT TIME ZONE ''UTC'') + INTERVAL ''7 days'') AT TIME ZONE ''UTC''', ttl_job_cron = '@daily', ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');
