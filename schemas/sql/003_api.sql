-- The API: limits that its processes share.

-- The share of a node in the rate limit of a token that is used on several nodes.
CREATE TABLE IF NOT EXISTS rate_leases (
    company_id UUID NOT NULL,
    token_id   UUID NOT NULL,
    node       TEXT NOT NULL,
    demand     BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT rate_leases_pkey PRIMARY KEY (company_id, token_id, node)
);

-- The load of a store that processes share, measured by one of them for all.
CREATE TABLE IF NOT EXISTS limit_probes (
    name        TEXT NOT NULL,
    node        TEXT NOT NULL,
    measured_at TIMESTAMPTZ NOT NULL,
    readings    JSONB NOT NULL,
    CONSTRAINT limit_probes_pkey PRIMARY KEY (name)
);
