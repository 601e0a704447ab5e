-- The last requests of the tokens of each company. Several processes write them in batches, some time after the requests.
-- Rows are never changed.
CREATE TABLE IF NOT EXISTS api_requests (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL, -- begins with the time of the request
    request_id  TEXT, -- that the client chose; NULL = the id
    created_at  TIMESTAMPTZ NOT NULL,
    method      TEXT NOT NULL,
    route       TEXT NOT NULL,
    operation   TEXT NOT NULL,
    scope       TEXT NOT NULL, -- resource whose scope opens the operation; '' = every token may call it
    path        TEXT NOT NULL,
    status      INT4 NOT NULL,
    code        TEXT,
    duration_ms INT4 NOT NULL,
    token_id    UUID NOT NULL,
    token_name  TEXT NOT NULL,
    address     TEXT NOT NULL,
    entity_id   UUID,
    represents  BIGINT NOT NULL,
    error       BYTEA,
    body        BYTEA,
    body_bytes  INT4 NOT NULL,
    CONSTRAINT api_requests_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS api_requests_refused_idx ON api_requests (company_id, id) WHERE status >= 400;

CREATE INDEX IF NOT EXISTS api_requests_refused_entity_idx ON api_requests (company_id, entity_id, id) WHERE status >= 400 AND entity_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS api_requests_chosen_idx ON api_requests (company_id, request_id, id) WHERE request_id IS NOT NULL;
