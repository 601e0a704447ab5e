-- Indexes for the list of companies.
CREATE INDEX IF NOT EXISTS companies_created_idx ON companies (created_at, id);

CREATE INDEX IF NOT EXISTS companies_updated_idx ON companies (updated_at, id);

CREATE INDEX IF NOT EXISTS companies_name_und_idx ON companies ((name COLLATE und), id);
