-- How far the routers have processed the events, by the event log and by topic. The reconciler compares it with the topic and
-- publishes events again that the topic lost before the routers had them.

CREATE TABLE IF NOT EXISTS router_progress (
    consumer_group TEXT NOT NULL,
    topic_id       UUID NOT NULL,
    offsets        BIGINT[] NOT NULL, -- next offset to process, by partition
    heads          BIGINT[] NOT NULL, -- last position of the event log that is processed, by bucket
    lost_at        TIMESTAMPTZ,       -- when a loss was found whose events are still being published again
    updated_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT router_progress_pkey PRIMARY KEY (consumer_group)
);
