ALTER TABLE rate_leases SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_disable_changefeed_replication = 'true');

ALTER TABLE rate_leases CONFIGURE ZONE USING gc.ttlseconds = 600;
ALTER TABLE limit_probes CONFIGURE ZONE USING gc.ttlseconds = 600;
