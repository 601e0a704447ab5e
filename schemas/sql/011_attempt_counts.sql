-- How many attempts senders made in a minute, for the chart of operators. A sender writes a row a minute, all of its own: no two write the
-- same one, and to write one again changes nothing.
CREATE TABLE IF NOT EXISTS attempt_counts (
    at         TIMESTAMPTZ NOT NULL, -- the end of the minute
    sender     UUID NOT NULL, -- another one with each start
    delivered  BIGINT NOT NULL,
    retried    BIGINT NOT NULL, -- failed, and another attempt follows
    failed     BIGINT NOT NULL, -- failed for good
    expires_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT attempt_counts_pkey PRIMARY KEY (at, sender)
);
