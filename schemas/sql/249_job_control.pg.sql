ALTER TABLE jobs DROP CONSTRAINT IF EXISTS jobs_statuses_chk;
ALTER TABLE jobs ADD CONSTRAINT jobs_statuses_chk CHECK (status IN ('pending', 'processing', 'paused', 'done', 'failed', 'canceled'));
