-- The root collation of Unicode, under the name by which CockroachDB knows it.

CREATE COLLATION IF NOT EXISTS und (provider = icu, locale = 'und');
