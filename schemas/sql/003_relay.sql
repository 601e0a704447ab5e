-- Relays that are alive, also those that own no bucket yet: the fair share of each follows from their number.
CREATE TABLE IF NOT EXISTS relay_members (
    node       TEXT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT relay_members_pkey PRIMARY KEY (node)
);
