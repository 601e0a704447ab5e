CREATE INDEX IF NOT EXISTS job_inputs_expires_idx ON job_inputs (expires_at);
