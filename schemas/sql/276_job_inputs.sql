-- Inputs of jobs that are too large for the row of the job, in pieces. They are deleted at the end of the job.
CREATE TABLE IF NOT EXISTS job_inputs (
    company_id UUID NOT NULL,
    job_id     UUID NOT NULL,
    n          BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT job_inputs_pkey PRIMARY KEY (company_id, job_id, n)
);

-- The result of a job that fails or is canceled is what it has done until then.
ALTER TABLE jobs ADD COLUMN IF NOT EXISTS keeps_result BOOLEAN NOT NULL DEFAULT false;
