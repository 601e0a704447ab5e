-- Live relays, including those without buckets; their number determines the fair share of each.
CREATE TABLE IF NOT EXISTS relay_members (
    node       TEXT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT relay_members_pkey PRIMARY KEY (node)
);
