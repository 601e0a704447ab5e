-- Work that takes longer than a request. A worker holds a job by a lease; epoch counts the takers. state is where the next
-- step goes on, stored in the transaction of each step. tries counts the takes since the last step that was stored.
CREATE TABLE IF NOT EXISTS jobs (
    company_id   UUID NOT NULL,
    id           UUID NOT NULL,
    type         TEXT NOT NULL,
    status       TEXT NOT NULL,
    resources    TEXT[] NOT NULL,
    caller       JSONB NOT NULL,
    input        JSONB NOT NULL,
    state        JSONB NOT NULL,
    steps        BIGINT NOT NULL,
    done         BIGINT NOT NULL,
    total        BIGINT NOT NULL,
    error        JSONB,
    result_media TEXT,
    result_bytes BIGINT NOT NULL,
    tries        INT4 NOT NULL,
    run_at       TIMESTAMPTZ NOT NULL,
    served_at    TIMESTAMPTZ NOT NULL,
    lease_owner  TEXT NOT NULL,
    lease_epoch  BIGINT NOT NULL,
    lease_until  TIMESTAMPTZ NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    ended_at     TIMESTAMPTZ,
    expires_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT jobs_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT jobs_status_chk CHECK (status IN ('pending', 'processing', 'done', 'failed'))
);

-- Few rows at any time: workers read all of them.
CREATE INDEX IF NOT EXISTS jobs_open_idx ON jobs (company_id, id) WHERE ended_at IS NULL;

-- Locked per company while its open jobs are counted.
CREATE TABLE IF NOT EXISTS job_companies (
    company_id UUID NOT NULL,
    started    BIGINT NOT NULL,
    CONSTRAINT job_companies_pkey PRIMARY KEY (company_id)
);

-- Results of jobs, in pieces.
CREATE TABLE IF NOT EXISTS job_chunks (
    company_id UUID NOT NULL,
    job_id     UUID NOT NULL,
    n          BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT job_chunks_pkey PRIMARY KEY (company_id, job_id, n)
);
