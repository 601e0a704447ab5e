-- Who may pause and cancel a job: the scope whose write right that takes; NULL = nobody. And what a job tells of its work.
ALTER TABLE jobs ADD COLUMN IF NOT EXISTS control TEXT;
ALTER TABLE jobs ADD COLUMN IF NOT EXISTS summary JSONB;

-- Jobs have more statuses now.
ALTER TABLE jobs DROP CONSTRAINT IF EXISTS jobs_status_chk;
