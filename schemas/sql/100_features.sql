-- What this release writes in a form that the previous one cannot read is turned on here, by contract migrations.

CREATE TABLE IF NOT EXISTS schema_features (
    name TEXT NOT NULL,
    CONSTRAINT schema_features_pkey PRIMARY KEY (name)
);
