-- From here on, stored answers and event bodies may be compressed; the previous release would send them out as they are.

INSERT INTO schema_features (name) VALUES ('compressed_bodies') ON CONFLICT (name) DO NOTHING;
