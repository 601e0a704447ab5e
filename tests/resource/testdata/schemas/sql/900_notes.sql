-- Notes of a company.

CREATE TABLE IF NOT EXISTS notes (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    title       TEXT NOT NULL,
    body        TEXT,
    search_text TEXT NOT NULL,
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT notes_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS notes_created_idx ON notes (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS notes_updated_idx ON notes (company_id, updated_at, id);
