-- Failed jobs of all companies, for operators. They are few, so that no writes meet at the end of the index.
CREATE INDEX IF NOT EXISTS jobs_failed_idx ON jobs (created_at DESC, id) WHERE status = 'failed';
