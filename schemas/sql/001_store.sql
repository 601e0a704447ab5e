-- The store: what every room above needs to write once, in order and for others to see. No row here is known to clients.

-- The last number that a company has given to a kind of document. Numbers have no gaps: the row is updated in the transaction
-- that stores the document.
CREATE TABLE IF NOT EXISTS counters (
    company_id UUID NOT NULL,
    kind       TEXT NOT NULL,
    n          BIGINT NOT NULL,
    CONSTRAINT counters_pkey PRIMARY KEY (company_id, kind)
);

-- A request with an Idempotency-Key, and its answer. state: 0 = in flight under a lease, 1 = done, with the answer stored.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    company_id  UUID NOT NULL,
    key         UUID NOT NULL,
    fingerprint BYTEA NOT NULL,
    state       SMALLINT NOT NULL,
    lease_id    UUID NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL,
    status      INT4,
    headers     JSONB,
    body        BYTEA,
    expires_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT idempotency_keys_pkey PRIMARY KEY (company_id, key)
);

-- A transaction that has committed: written by transactions whose commit nothing else would prove.
CREATE TABLE IF NOT EXISTS tx_markers (
    id         UUID NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT tx_markers_pkey PRIMARY KEY (id)
);

-- How many bytes of a kind a company keeps that expire on a day.
CREATE TABLE IF NOT EXISTS storage_usage (
    company_id UUID NOT NULL,
    kind       TEXT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    bytes      BIGINT NOT NULL,
    CONSTRAINT storage_usage_pkey PRIMARY KEY (company_id, kind, expires_at)
);

-- ---- Jobs: work that takes longer than a request, and work that one process does for all ----

-- Work that takes longer than a request, such as an export. A worker holds a job by a lease; lease_epoch counts the takers. state
-- is where the next step goes on, stored in the transaction of each step. tries counts the takes since the last step that was
-- stored.
CREATE TABLE IF NOT EXISTS jobs (
    company_id   UUID NOT NULL,
    id           UUID NOT NULL,
    type         TEXT NOT NULL,
    status       TEXT NOT NULL,
    resources    TEXT[] NOT NULL,
    control      TEXT, -- scope whose write right it takes to pause and cancel the job; NULL = nobody may
    caller       JSONB NOT NULL,
    input        JSONB NOT NULL,
    state        JSONB NOT NULL,
    steps        BIGINT NOT NULL,
    done         BIGINT NOT NULL,
    total        BIGINT NOT NULL,
    summary      JSONB, -- what the job tells of its work
    error        JSONB,
    keeps_result BOOLEAN NOT NULL DEFAULT false, -- the result of a job that fails or is canceled is what it has done until then
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
    CONSTRAINT jobs_statuses_chk CHECK (status IN ('pending', 'processing', 'paused', 'done', 'failed', 'canceled'))
);

-- Few rows at any time: workers read all of them.
CREATE INDEX IF NOT EXISTS jobs_open_idx ON jobs (company_id, id) WHERE ended_at IS NULL;
-- Failed jobs of all companies, for operators. They are few, so that no writes meet at the end of the index.
CREATE INDEX IF NOT EXISTS jobs_failed_idx ON jobs (created_at DESC, id) WHERE status = 'failed';

-- A company that has started jobs: locked while its open jobs are counted.
CREATE TABLE IF NOT EXISTS job_companies (
    company_id UUID NOT NULL,
    started    BIGINT NOT NULL,
    CONSTRAINT job_companies_pkey PRIMARY KEY (company_id)
);

-- A piece of the input of a job that is too large for the row of the job. It is deleted at the end of the job.
CREATE TABLE IF NOT EXISTS job_inputs (
    company_id UUID NOT NULL,
    job_id     UUID NOT NULL,
    n          BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT job_inputs_pkey PRIMARY KEY (company_id, job_id, n)
);

-- A piece of the result of a job.
CREATE TABLE IF NOT EXISTS job_chunks (
    company_id UUID NOT NULL,
    job_id     UUID NOT NULL,
    n          BIGINT NOT NULL,
    body       BYTEA NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT job_chunks_pkey PRIMARY KEY (company_id, job_id, n)
);

-- A job that one process does for all, such as the sweeper. Its owner holds it until expires_at, by the clock of the database;
-- epoch counts changes of the owner.
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

-- ---- Processes ----

-- A process that runs, as it announces itself. `migrate --contract` asks whether one of the release before still runs.
CREATE TABLE IF NOT EXISTS processes (
    id         UUID NOT NULL,
    node       TEXT NOT NULL, -- host and process number
    role       TEXT NOT NULL,
    release    TEXT NOT NULL,
    contracts  TEXT[] NOT NULL, -- versions of the contract migrations that the release can live with
    started_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL, -- unless it is heard of again
    settings   TEXT[], -- that must be the same in all processes, each as name=value; NULL = it has none
    CONSTRAINT processes_pkey PRIMARY KEY (id)
);

-- ---- Mail to owners ----

-- A mail to an owner of a company about an occasion. It is kept past the sending, so that nothing is told twice.
CREATE TABLE IF NOT EXISTS notices (
    company_id UUID NOT NULL,
    kind       TEXT NOT NULL, -- such as webhook.disabled
    record_id  UUID NOT NULL, -- what it is about
    since      TIMESTAMPTZ NOT NULL, -- the occasion
    recipient  TEXT NOT NULL, -- '' = the company has no owner with an address
    subject    TEXT NOT NULL,
    body       TEXT NOT NULL,
    status     TEXT NOT NULL,
    tries      INT4 NOT NULL,
    next_at    TIMESTAMPTZ NOT NULL, -- nobody sends it before
    error      TEXT, -- of the last try
    created_at TIMESTAMPTZ NOT NULL,
    ended_at   TIMESTAMPTZ,
    expires_at TIMESTAMPTZ NOT NULL,
    file_name  TEXT, -- of what is attached; NULL = nothing
    file_media TEXT,
    file_bytes BYTEA, -- until it is sent
    CONSTRAINT notices_pkey PRIMARY KEY (company_id, kind, record_id, since, recipient),
    CONSTRAINT notices_status_chk CHECK (status IN ('pending', 'sent', 'failed', 'suppressed', 'unaddressed'))
);

-- Few rows at any time.
CREATE INDEX IF NOT EXISTS notices_pending_idx ON notices (next_at) WHERE status = 'pending';
-- Counts what a company got lately.
CREATE INDEX IF NOT EXISTS notices_sent_idx ON notices (company_id, ended_at) WHERE status = 'sent';
