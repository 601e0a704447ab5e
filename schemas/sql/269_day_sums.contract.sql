-- From here on, sums of days are kept: the previous release, which does not count changes in day_changes, does not run any more.

INSERT INTO schema_features (name) VALUES ('day_sums') ON CONFLICT (name) DO NOTHING;
