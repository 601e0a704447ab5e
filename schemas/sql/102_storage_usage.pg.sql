CREATE INDEX IF NOT EXISTS storage_usage_expires_idx ON storage_usage (expires_at);
