ALTER TABLE events SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@daily', ttl_delete_rate_limit = 2000, ttl_disable_changefeed_replication = 'true');
ALTER TABLE relay_members SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_disable_changefeed_replication = 'true');

-- The outbox has constant inserts and deletes: dead rows must not accumulate.
ALTER TABLE outbox CONFIGURE ZONE USING gc.ttlseconds = 600;
ALTER TABLE outbox_leases CONFIGURE ZONE USING gc.ttlseconds = 600;
ALTER TABLE relay_members CONFIGURE ZONE USING gc.ttlseconds = 600;
ALTER TABLE event_log_heads CONFIGURE ZONE USING gc.ttlseconds = 600;

-- Each bucket has its own range, so that they spread over the nodes. Each batch of published events updates its bucket in
-- event_log_heads: 256 rows in one range would be a hot spot.
ALTER TABLE outbox SPLIT AT SELECT g FROM generate_series(0, 255) AS g;
ALTER TABLE event_log_heads SPLIT AT SELECT g * 16 FROM generate_series(1, 15) AS g;
