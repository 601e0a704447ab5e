-- Views of lists that people save in the console: the filters, columns and order of a list under a name.
CREATE TABLE IF NOT EXISTS console_views (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    user_id    UUID NOT NULL, -- who saved it
    list       TEXT NOT NULL,
    name       TEXT NOT NULL,
    query      TEXT NOT NULL, -- of the address
    shared     BOOLEAN NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    CONSTRAINT console_views_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS console_views_list_idx ON console_views (company_id, list, id);

CREATE INDEX IF NOT EXISTS console_views_user_idx ON console_views (company_id, user_id, id);
