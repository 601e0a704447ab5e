-- Finds what has expired. Rows of one time lie together, so that a summary of each range of blocks is enough, and costs next to nothing per row.
CREATE INDEX IF NOT EXISTS api_requests_created_idx ON api_requests USING BRIN (created_at) WITH (autosummarize = on);
