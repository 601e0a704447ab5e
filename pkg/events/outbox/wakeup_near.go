package outbox

// NearWakeups wakes the relay of the same process where that owns the bucket, and otherwise the owner, through Kafka.
type NearWakeups struct {
	relay *Relay
	far   *Wakeups
}

// NewNearWakeups makes the wake-ups of a process that has a relay; far is to be run beside it.
func NewNearWakeups(relay *Relay, far *Wakeups) *NearWakeups { return &NearWakeups{relay, far} }

// Wake tells the owner of a bucket that rows were written to it; it never waits. Whoever takes over a bucket looks for its rows, so
// that a lease which ends at this moment makes no row wait.
func (n *NearWakeups) Wake(bucket int32) {
	if n.relay.owns(bucket) {
		n.relay.Wake(bucket)
		return
	}
	n.far.Wake(bucket)
}

// owns reports whether the relay owns a bucket, and is not about to hand it over.
func (r *Relay) owns(bucket int32) bool {
	if bucket < 0 || bucket >= Buckets {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.parts[bucket]
	return p.held && !p.leaving
}
