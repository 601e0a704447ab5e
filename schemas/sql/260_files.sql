-- Images that a company has uploaded. Their contents are in the table file_chunks or in a bucket.
CREATE TABLE IF NOT EXISTS files (
    company_id  UUID NOT NULL,
    id          UUID NOT NULL,
    name        TEXT NOT NULL,
    media_type  TEXT NOT NULL,
    size        BIGINT NOT NULL,
    width       INT4 NOT NULL,
    height      INT4 NOT NULL,
    sha256      TEXT NOT NULL,
    thumbnails  JSONB NOT NULL,
    search_text TEXT NOT NULL,
    version     BIGINT NOT NULL,
    ev_pos      BIGINT NOT NULL,
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    CONSTRAINT files_pkey PRIMARY KEY (company_id, id)
);

CREATE INDEX IF NOT EXISTS files_created_idx ON files (company_id, created_at, id);

CREATE INDEX IF NOT EXISTS files_updated_idx ON files (company_id, updated_at, id);

CREATE INDEX IF NOT EXISTS files_name_idx ON files (company_id, name, id);

-- Records that refer to a file. The foreign key keeps a file from being deleted while a record begins to refer to it, whatever the
-- isolation of the transactions.
CREATE TABLE IF NOT EXISTS file_uses (
    company_id UUID NOT NULL,
    file_id    UUID NOT NULL,
    entity     TEXT NOT NULL,
    record_id  UUID NOT NULL,
    CONSTRAINT file_uses_pkey PRIMARY KEY (company_id, file_id, entity, record_id),
    CONSTRAINT file_uses_file_fkey FOREIGN KEY (company_id, file_id) REFERENCES files (company_id, id)
);

-- Contents that may exist, written before they are. At due_at the sweeper looks whether a file and references to it exist, and removes
-- the contents if they do not; NULL = not before a reference is removed. bytes count towards the quota of the company.
CREATE TABLE IF NOT EXISTS file_blobs (
    company_id UUID NOT NULL,
    file_id    UUID NOT NULL,
    bytes      BIGINT NOT NULL,
    due_at     TIMESTAMPTZ,
    CONSTRAINT file_blobs_pkey PRIMARY KEY (company_id, file_id)
);

CREATE INDEX IF NOT EXISTS file_blobs_due_idx ON file_blobs (due_at, company_id, file_id) WHERE due_at IS NOT NULL;

-- Contents in pieces, for installations without a bucket.
CREATE TABLE IF NOT EXISTS file_chunks (
    company_id UUID NOT NULL,
    file_id    UUID NOT NULL,
    part       TEXT NOT NULL,
    n          INT4 NOT NULL,
    body       BYTEA NOT NULL,
    CONSTRAINT file_chunks_pkey PRIMARY KEY (company_id, file_id, part, n)
);
