// Package bench measures the platform from outside: the real binary in processes of its own, over real sockets, on a
// database that waits for its disk at each commit. `make bench` runs it. The benchmarks of single parts lie beside
// those parts.
//
// The load comes from the same machine and takes its share of the processors, so the figures are lower than those of
// a server that is alone; the ratios to what the database does by itself are what to look at.
package bench
