-- Resources that can be booked, bookings, and the uses of resources as venues of deals.

-- Whoever adds or moves a use of a resource locks its row and increments uses_changed.
CREATE TABLE IF NOT EXISTS scheduling_resources (
    company_id        UUID NOT NULL,
    id                UUID NOT NULL,
    type              TEXT NOT NULL,
    name              TEXT NOT NULL,
    description       TEXT,
    branch_id         UUID,
    user_id           UUID,
    service_ids       UUID[] NOT NULL,
    capacity          INT4,
    parallel_bookings INT4 NOT NULL,
    slot_step_minutes INT4 NOT NULL,
    time_zone         TEXT NOT NULL,
    working_hours     JSONB NOT NULL,
    is_active         BOOLEAN NOT NULL,
    color             TEXT,
    photo_file_id     UUID,
    sort_order        INT4 NOT NULL,
    search_text       TEXT NOT NULL,
    uses_changed      BIGINT NOT NULL DEFAULT 0,
    version           BIGINT NOT NULL,
    ev_pos            BIGINT NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    updated_at        TIMESTAMPTZ NOT NULL,
    CONSTRAINT scheduling_resources_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT scheduling_resources_type_chk CHECK (type IN ('staff', 'seat', 'unit', 'equipment')),
    CONSTRAINT scheduling_resources_parallel_chk CHECK (parallel_bookings >= 1)
);

CREATE INDEX IF NOT EXISTS scheduling_resources_created_idx ON scheduling_resources (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS scheduling_resources_updated_idx ON scheduling_resources (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS scheduling_resources_name_idx ON scheduling_resources (company_id, (name COLLATE und), id);

CREATE INDEX IF NOT EXISTS scheduling_resources_type_idx ON scheduling_resources (company_id, type, id);

CREATE TABLE IF NOT EXISTS bookings (
    company_id       UUID NOT NULL,
    id               UUID NOT NULL,
    number           BIGINT NOT NULL,
    resource_id      UUID NOT NULL,
    service_id       UUID,
    client_id        UUID,
    customer_name    TEXT NOT NULL,
    customer_phone   TEXT NOT NULL,
    customer_email   TEXT,
    start_at         TIMESTAMPTZ NOT NULL,
    duration_minutes INT4 NOT NULL,
    headcount        INT4,
    note             TEXT,
    external_id      TEXT,
    resource_name    TEXT NOT NULL,
    service_name     TEXT,
    end_at           TIMESTAMPTZ NOT NULL,
    status           TEXT NOT NULL,
    price            BIGINT,
    source           TEXT NOT NULL,
    cancel_reason    TEXT,
    created_by_id    UUID,
    confirmed_at     TIMESTAMPTZ,
    completed_at     TIMESTAMPTZ,
    cancelled_at     TIMESTAMPTZ,
    search_text      TEXT NOT NULL,
    version          BIGINT NOT NULL,
    ev_pos           BIGINT NOT NULL,
    created_at       TIMESTAMPTZ NOT NULL,
    updated_at       TIMESTAMPTZ NOT NULL,
    CONSTRAINT bookings_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT bookings_status_chk CHECK (status IN ('pending', 'confirmed', 'completed', 'no_show', 'cancelled')),
    CONSTRAINT bookings_time_chk CHECK (start_at < end_at)
);

CREATE UNIQUE INDEX IF NOT EXISTS bookings_number_key ON bookings (company_id, number);

CREATE INDEX IF NOT EXISTS bookings_created_idx ON bookings (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS bookings_updated_idx ON bookings (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS bookings_start_idx ON bookings (company_id, start_at, id);

CREATE INDEX IF NOT EXISTS bookings_resource_idx ON bookings (company_id, resource_id, start_at, id);

CREATE INDEX IF NOT EXISTS bookings_client_idx ON bookings (company_id, client_id, id) WHERE client_id IS NOT NULL;

-- A deal takes a resource as its venue from start_at to end_at. Bookings and other deals must not overlap it.
CREATE TABLE IF NOT EXISTS venue_uses (
    company_id  UUID NOT NULL,
    deal_id     UUID NOT NULL,
    resource_id UUID NOT NULL,
    start_at    TIMESTAMPTZ NOT NULL,
    end_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT venue_uses_pkey PRIMARY KEY (company_id, deal_id),
    CONSTRAINT venue_uses_time_chk CHECK (start_at < end_at)
);

CREATE INDEX IF NOT EXISTS venue_uses_resource_idx ON venue_uses (company_id, resource_id, start_at);
