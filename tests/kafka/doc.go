// Package kafka tests the platform on real Apache Kafka brokers: what happens when they fail, when topics lose their
// records, and what clients may do. It needs Java and Maven; `make test-kafka` runs it, and the Kafka-facing tests of the
// other packages, on such brokers.
package kafka
