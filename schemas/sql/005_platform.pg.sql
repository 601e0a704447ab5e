-- For the cleanup of expired rows. Requests of one time lie together, so that a summary of each range of blocks is enough, and
-- costs next to nothing per row.
CREATE INDEX IF NOT EXISTS api_requests_created_idx ON api_requests USING BRIN (created_at) WITH (autosummarize = on);
CREATE INDEX IF NOT EXISTS sessions_expires_idx ON sessions (expires_at);
CREATE INDEX IF NOT EXISTS account_links_expires_idx ON account_links (expires_at);
CREATE INDEX IF NOT EXISTS sign_in_limits_expires_idx ON sign_in_limits (expires_at);
