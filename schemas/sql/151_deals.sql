-- Deals of a company: types with their stages, lost reasons, sources of leads, deals with lines and history.

CREATE TABLE IF NOT EXISTS deal_types (
    company_id   UUID NOT NULL,
    id           UUID NOT NULL,
    alias        TEXT NOT NULL,
    name         TEXT NOT NULL,
    component    TEXT NOT NULL,
    is_default   BOOLEAN NOT NULL,
    is_lead_type BOOLEAN NOT NULL,
    is_active    BOOLEAN NOT NULL,
    sort_order   INT4 NOT NULL,
    version      BIGINT NOT NULL,
    ev_pos       BIGINT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL,
    CONSTRAINT deal_types_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS deal_types_alias_key ON deal_types (company_id, alias);

CREATE UNIQUE INDEX IF NOT EXISTS deal_types_default_key ON deal_types (company_id) WHERE is_default;

CREATE UNIQUE INDEX IF NOT EXISTS deal_types_lead_key ON deal_types (company_id) WHERE is_lead_type;

CREATE TABLE IF NOT EXISTS deal_stages (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    type_id     UUID NOT NULL,
    name        TEXT NOT NULL,
    color       TEXT,
    sort_order  INT4 NOT NULL,
    is_initial  BOOLEAN NOT NULL,
    is_terminal BOOLEAN NOT NULL,
    outcome     TEXT,
    probability INT4,
    sla_hours   INT4,
    checklist   TEXT[] NOT NULL,
    is_active   BOOLEAN NOT NULL,
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT deal_stages_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT deal_stages_outcome_chk CHECK (outcome IN ('won', 'lost', 'done', 'cancelled')),
    CONSTRAINT deal_stages_terminal_chk CHECK (is_terminal = (outcome IS NOT NULL))
);

CREATE INDEX IF NOT EXISTS deal_stages_type_idx ON deal_stages (company_id, type_id, sort_order, id);

CREATE TABLE IF NOT EXISTS deal_lost_reasons (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    name       TEXT NOT NULL,
    alias      TEXT,
    is_active  BOOLEAN NOT NULL,
    sort_order INT4 NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT deal_lost_reasons_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS deal_lost_reasons_alias_key ON deal_lost_reasons (company_id, alias) WHERE alias IS NOT NULL;

CREATE TABLE IF NOT EXISTS lead_sources (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    name       TEXT NOT NULL,
    alias      TEXT,
    is_active  BOOLEAN NOT NULL,
    sort_order INT4 NOT NULL,
    version    BIGINT NOT NULL,
    ev_pos     BIGINT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT lead_sources_pkey PRIMARY KEY (company_id, id)
);

CREATE UNIQUE INDEX IF NOT EXISTS lead_sources_alias_key ON lead_sources (company_id, alias) WHERE alias IS NOT NULL;

-- search_text is computed in Go for search=. board_order is the time of entering the stage, in microseconds.
CREATE TABLE IF NOT EXISTS deals (
    company_id          UUID NOT NULL,
    id                  UUID NOT NULL,
    number              BIGINT NOT NULL,
    type_id             UUID NOT NULL,
    stage_id            UUID NOT NULL,
    checklist_done      TEXT[] NOT NULL,
    outcome             TEXT,
    client_id           UUID,
    asset_id            UUID,
    address_id          UUID,
    venue_resource_id   UUID,
    address_label       TEXT,
    customer_name       TEXT,
    customer_phone      TEXT,
    customer_email      TEXT,
    customer_note       TEXT,
    channel             TEXT,
    source              TEXT,
    source_id           UUID,
    address             TEXT,
    scheduled_at        TIMESTAMPTZ,
    due_at              TIMESTAMPTZ,
    note                TEXT,
    subtotal            BIGINT NOT NULL,
    discount_percent_bp INT4 NOT NULL,
    discount_amount     BIGINT NOT NULL,
    total               BIGINT NOT NULL,
    cost                BIGINT NOT NULL,
    budget              BIGINT,
    budget_exceeded_at  TIMESTAMPTZ,
    headcount           INT4,
    lost_reason_id      UUID,
    next_action_at      TIMESTAMPTZ,
    stage_entered_at    TIMESTAMPTZ,
    intake              JSONB,
    board_order         BIGINT NOT NULL,
    lines_count         INT4 NOT NULL,
    created_by_id       UUID NOT NULL,
    assigned_to_id      UUID,
    search_text         TEXT NOT NULL,
    version             BIGINT NOT NULL,
    ev_pos              BIGINT NOT NULL,
    created_at          TIMESTAMPTZ NOT NULL,
    updated_at          TIMESTAMPTZ NOT NULL,
    CONSTRAINT deals_pkey PRIMARY KEY (company_id, id),
    CONSTRAINT deals_outcome_chk CHECK (outcome IN ('won', 'lost', 'done', 'cancelled')),
    CONSTRAINT deals_total_chk CHECK (total = subtotal - discount_amount)
);

CREATE UNIQUE INDEX IF NOT EXISTS deals_number_key ON deals (company_id, number);

CREATE INDEX IF NOT EXISTS deals_created_idx ON deals (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS deals_updated_idx ON deals (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS deals_stage_idx ON deals (company_id, stage_id, board_order, id);

CREATE INDEX IF NOT EXISTS deals_board_idx ON deals (company_id, board_order, id);

CREATE INDEX IF NOT EXISTS deals_type_idx ON deals (company_id, type_id, created_at, id);

CREATE INDEX IF NOT EXISTS deals_total_idx ON deals (company_id, total, id);

CREATE INDEX IF NOT EXISTS deals_due_idx ON deals (company_id, due_at, id);

CREATE INDEX IF NOT EXISTS deals_scheduled_idx ON deals (company_id, scheduled_at, id);

CREATE INDEX IF NOT EXISTS deals_client_idx ON deals (company_id, client_id, created_at, id) WHERE client_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS deals_assigned_idx ON deals (company_id, assigned_to_id, created_at, id) WHERE assigned_to_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS deals_open_idx ON deals (company_id, next_action_at, id) WHERE outcome IS NULL;

CREATE TABLE IF NOT EXISTS deal_lines (
    company_id      UUID NOT NULL,
    deal_id         UUID NOT NULL,
    id              UUID NOT NULL,
    sort_order      INT4 NOT NULL,
    kind            TEXT NOT NULL,
    ref_id          UUID,
    variant_id      UUID,
    sku             TEXT,
    name            TEXT NOT NULL,
    unit            TEXT,
    qty             DECIMAL(18,3) NOT NULL,
    per_guest       BOOLEAN NOT NULL,
    effective_qty   DECIMAL(18,3) NOT NULL,
    unit_price      BIGINT NOT NULL,
    unit_cost       BIGINT NOT NULL,
    amount          BIGINT NOT NULL,
    discount_amount BIGINT NOT NULL,
    total           BIGINT NOT NULL,
    cost            BIGINT NOT NULL,
    modifiers       TEXT NOT NULL,
    note            TEXT,
    CONSTRAINT deal_lines_pkey PRIMARY KEY (company_id, deal_id, id),
    CONSTRAINT deal_lines_kind_chk CHECK (kind IN ('product', 'service', 'custom'))
);

-- Insert-only: the moves of deals between stages; version is that of the deal after the move.
CREATE TABLE IF NOT EXISTS deal_history (
    company_id     UUID NOT NULL,
    deal_id        UUID NOT NULL,
    version        BIGINT NOT NULL,
    from_stage_id  UUID NOT NULL,
    to_stage_id    UUID NOT NULL,
    from_outcome   TEXT,
    to_outcome     TEXT,
    lost_reason_id UUID,
    actor_id       TEXT NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    CONSTRAINT deal_history_pkey PRIMARY KEY (company_id, deal_id, version)
);

-- New companies are created with these types, stages, lost reasons and sources; this adds them to existing companies that have
-- no types.
INSERT INTO deal_types (company_id, id, alias, name, component, is_default, is_lead_type, is_active, sort_order, version, ev_pos, created_at, updated_at)
SELECT c.id, gen_random_uuid(), t.alias, t.name, 'deals', t.alias = 'sales', t.alias = 'lead', true, t.n, 1, c.ev_pos, now(), now()
FROM companies AS c, (VALUES ('lead', 'Leads', 0), ('sales', 'Sales', 1)) AS t(alias, name, n)
WHERE NOT EXISTS (SELECT 1 FROM deal_types AS o WHERE o.company_id = c.id)
ON CONFLICT DO NOTHING;

INSERT INTO deal_stages (company_id, id, type_id, name, color, sort_order, is_initial, is_terminal, outcome, probability, sla_hours, checklist, is_active, version, ev_pos, created_at, updated_at)
SELECT t.company_id, gen_random_uuid(), t.id, s.name, s.color, s.n, s.n = 0, s.outcome IS NOT NULL, s.outcome, s.probability, NULL, ARRAY[]::TEXT[], true, 1, t.ev_pos, now(), now()
FROM deal_types AS t, (VALUES ('New', '#64748B', 0, NULL::TEXT, 10), ('Qualification', '#3B82F6', 1, NULL::TEXT, 30), ('Proposal', '#8B5CF6', 2, NULL::TEXT, 60), ('Won', '#22C55E', 3, 'won', 100), ('Lost', '#EF4444', 4, 'lost', 0)) AS s(name, color, n, outcome, probability)
WHERE NOT EXISTS (SELECT 1 FROM deal_stages AS o WHERE o.company_id = t.company_id AND o.type_id = t.id)
ON CONFLICT DO NOTHING;

INSERT INTO deal_lost_reasons (company_id, id, name, alias, is_active, sort_order, version, ev_pos, created_at, updated_at)
SELECT c.id, gen_random_uuid(), r.name, r.alias, true, r.n, 1, c.ev_pos, now(), now()
FROM companies AS c, (VALUES ('Price too high', 'price', 0), ('Chose a competitor', 'competitor', 1), ('No longer needed', 'not_needed', 2), ('No answer', 'no_answer', 3)) AS r(name, alias, n)
WHERE NOT EXISTS (SELECT 1 FROM deal_lost_reasons AS o WHERE o.company_id = c.id)
ON CONFLICT DO NOTHING;

INSERT INTO lead_sources (company_id, id, name, alias, is_active, sort_order, version, ev_pos, created_at, updated_at)
SELECT c.id, gen_random_uuid(), r.name, r.alias, true, r.n, 1, c.ev_pos, now(), now()
FROM companies AS c, (VALUES ('Website', 'webhook', 0), ('Public form', 'public_form', 1), ('API', 'api', 2), ('Telegram', 'telegram', 3), ('Phone call', 'phone', 4), ('Referral', 'referral', 5)) AS r(name, alias, n)
WHERE NOT EXISTS (SELECT 1 FROM lead_sources AS o WHERE o.company_id = c.id)
ON CONFLICT DO NOTHING;
