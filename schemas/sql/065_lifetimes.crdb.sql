-- Row-level TTL deletes the rows that the cleanup jobs delete on PostgreSQL, at low priority and with a rate limit per
-- node. Changefeeds do not report these deletions.

ALTER TABLE relay_members SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_disable_changefeed_replication = 'true');

-- Open deliveries do not expire.
ALTER TABLE deliveries SET (ttl_expiration_expression = 'CASE WHEN state >= 2 THEN ((created_at AT TIME ZONE ''UTC'') + INTERVAL ''30 days'') AT TIME ZONE ''UTC'' END', ttl_job_cron = '@daily', ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');

ALTER TABLE idempotency_keys SET (ttl_delete_rate_limit = 2000);

ALTER TABLE tx_markers SET (ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');

ALTER TABLE events SET (ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');

ALTER TABLE rate_leases SET (ttl_disable_changefeed_replication = 'true');

-- Few, frequently updated rows and short-lived rows: readers must not scan many old versions.
ALTER TABLE outbox_leases CONFIGURE ZONE USING gc.ttlseconds = 600;

ALTER TABLE relay_members CONFIGURE ZONE USING gc.ttlseconds = 600;

ALTER TABLE job_leases CONFIGURE ZONE USING gc.ttlseconds = 600;

ALTER TABLE rate_leases CONFIGURE ZONE USING gc.ttlseconds = 600;

ALTER TABLE limit_probes CONFIGURE ZONE USING gc.ttlseconds = 600;

ALTER TABLE event_log_heads CONFIGURE ZONE USING gc.ttlseconds = 600;

ALTER TABLE tx_markers CONFIGURE ZONE USING gc.ttlseconds = 600;

-- Each batch of published events updates its bucket here: 256 rows in one range would be a hot spot.
ALTER TABLE event_log_heads SPLIT AT SELECT g * 16 FROM generate_series(1, 15) AS g;
