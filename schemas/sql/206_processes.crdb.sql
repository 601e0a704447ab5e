-- Few, frequently updated rows.
ALTER TABLE processes SET (ttl_expiration_expression = 'expires_at', ttl_job_cron = '@hourly', ttl_disable_changefeed_replication = 'true');

ALTER TABLE processes CONFIGURE ZONE USING gc.ttlseconds = 600;
