CREATE INDEX IF NOT EXISTS sessions_expires_idx ON sessions (expires_at);
CREATE INDEX IF NOT EXISTS account_links_expires_idx ON account_links (expires_at);
CREATE INDEX IF NOT EXISTS sign_in_limits_expires_idx ON sign_in_limits (expires_at);
