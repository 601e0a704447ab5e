-- The calendar of a company. An entry belongs to a booking or a deal, which has at most one.

CREATE TABLE IF NOT EXISTS calendar_events (
    company_id    UUID NOT NULL,
    id            UUID NOT NULL,
    title         TEXT NOT NULL,
    kind          TEXT NOT NULL,
    start_at      TIMESTAMPTZ NOT NULL,
    end_at        TIMESTAMPTZ NOT NULL,
    all_day       BOOLEAN NOT NULL,
    resource_id   UUID,
    booking_id    UUID,
    deal_id       UUID,
    client_id     UUID,
    status        TEXT,
    created_by_id UUID,
    version       BIGINT NOT NULL,
    ev_pos        BIGINT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    updated_at    TIMESTAMPTZ NOT NULL,
    CONSTRAINT calendar_events_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT calendar_events_kind_chk CHECK (kind IN ('booking', 'deal', 'manual'))
);

CREATE UNIQUE INDEX IF NOT EXISTS calendar_events_booking_key ON calendar_events (company_id, booking_id) WHERE booking_id IS NOT NULL;

CREATE UNIQUE INDEX IF NOT EXISTS calendar_events_deal_key ON calendar_events (company_id, deal_id) WHERE deal_id IS NOT NULL;
