ALTER TABLE jobs ADD CONSTRAINT IF NOT EXISTS jobs_statuses_chk CHECK (status IN ('pending', 'processing', 'paused', 'done', 'failed', 'canceled'));
