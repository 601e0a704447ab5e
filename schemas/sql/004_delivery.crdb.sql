-- Open deliveries do not expire.
ALTER TABLE deliveries SET (ttl_expiration_expression = 'CASE WHEN state >= 2 THEN ((created_at AT TIME ZONE ''UTC'') + INTERVAL ''30 days'') AT TIME ZONE ''UTC'' END', ttl_job_cron = '@daily', ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');
