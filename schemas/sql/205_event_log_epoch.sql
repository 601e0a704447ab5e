-- The epoch of the event log. Positions are counters, which a restore of the database from a backup sets back, so that they
-- are assigned again, to other events. A new epoch begins then, and cursors of other epochs are refused. 0 is the first
-- epoch; its cursors are those of releases that knew no epochs.

CREATE TABLE IF NOT EXISTS event_log_epoch (
    id       INT4 NOT NULL,
    epoch    BIGINT NOT NULL,
    began_at TIMESTAMPTZ NOT NULL,
    cause    TEXT NOT NULL,
    CONSTRAINT event_log_epoch_pkey PRIMARY KEY (id),
    CONSTRAINT event_log_epoch_single CHECK (id = 1)
);

INSERT INTO event_log_epoch (id, epoch, began_at, cause) VALUES (1, 0, TIMESTAMPTZ '2000-01-01 00:00:00Z', '')
ON CONFLICT (id) DO NOTHING;
