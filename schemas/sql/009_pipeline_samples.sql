-- How the pipeline of events stood at a minute, for the chart of operators. One relay writes it for all; a minute without a row is one in which
-- none did.
CREATE TABLE IF NOT EXISTS pipeline_samples (
    at              TIMESTAMPTZ NOT NULL, -- the minute
    published       BIGINT NOT NULL, -- events that were ever published: what was published between two samples is the difference
    outbox_rows     BIGINT NOT NULL,
    outbox_age_ms   BIGINT NOT NULL, -- of the oldest row; 0 = there was none
    open_deliveries BIGINT NOT NULL,
    open_age_ms     BIGINT NOT NULL, -- of the oldest of them; 0 = there was none
    expires_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT pipeline_samples_pkey PRIMARY KEY (at)
);
