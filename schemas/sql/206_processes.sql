-- The processes that run, as they announce themselves. `migrate --contract` asks it whether the previous release still runs.

CREATE TABLE IF NOT EXISTS processes (
    id         UUID NOT NULL,
    node       TEXT NOT NULL, -- host and process number
    role       TEXT NOT NULL,
    release    TEXT NOT NULL,
    contracts  TEXT[] NOT NULL, -- versions of the contract migrations that the release can live with
    started_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL, -- unless it is heard of again
    CONSTRAINT processes_pkey PRIMARY KEY (id)
);
