-- The Unicode root collation, under CockroachDB's name for it.

CREATE COLLATION IF NOT EXISTS und (provider = icu, locale = 'und');
