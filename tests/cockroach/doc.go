// Package cockroach holds the tests of what only a real CockroachDB can show: that its overlays do what they say, that its
// retry errors are understood, and where rows live. `make test-cockroach` runs them with all others; where the database
// is PostgreSQL they are left out, with the reason, except for what has to be the same on both.
package cockroach
