CREATE INDEX IF NOT EXISTS jobs_expires_idx ON jobs (expires_at);

CREATE INDEX IF NOT EXISTS job_chunks_expires_idx ON job_chunks (expires_at);
