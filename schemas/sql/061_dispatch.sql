-- Jobs that run in only one dispatcher process.

-- The owner of a job until expires_at, by the clock of the database. The epoch counts changes of the owner.
CREATE TABLE IF NOT EXISTS job_leases (
    name       TEXT NOT NULL,
    owner      TEXT NOT NULL,
    epoch      BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT job_leases_pkey PRIMARY KEY (name)
);

INSERT INTO job_leases (name, owner, epoch, expires_at)
SELECT 'sweeper', '', 0, TIMESTAMPTZ '2000-01-01 00:00:00Z'
ON CONFLICT (name) DO NOTHING;

-- Running attempts that take long enough to be shown; few at any time.
CREATE INDEX IF NOT EXISTS deliveries_delivering_idx ON deliveries (company_id, subscription_id, id) WHERE state = 1;
