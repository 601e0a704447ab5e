CREATE INDEX IF NOT EXISTS notices_expires_idx ON notices (expires_at);
