-- Usage of shared stores, measured by one process for all.
CREATE TABLE IF NOT EXISTS limit_probes (
    name        TEXT NOT NULL,
    node        TEXT NOT NULL,
    lease_until TIMESTAMPTZ NOT NULL,
    measured_at TIMESTAMPTZ NOT NULL,
    readings    JSONB NOT NULL,
    CONSTRAINT limit_probes_pkey PRIMARY KEY (name)
);
