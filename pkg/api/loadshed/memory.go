package loadshed

import (
	"context"
	"time"
)

// What has been reserved, and how often it is looked at, before memory is given back to the operating system.
const (
	memoryAfter = 32 << 20 // bytes
	memoryEvery = 10 * time.Second
)

// watchMemory gives memory back once no large requests and responses are left that needed much of it. By itself the collector runs
// when several times as much has been allocated as is in use, or after two minutes, and then returns memory slowly.
func (s *Shedder) watchMemory(ctx context.Context) {
	t := time.NewTicker(memoryEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if s.sending.usedBytes()+s.decoding.usedBytes() == 0 && s.sending.reservedBytes()+s.decoding.reservedBytes() >= memoryAfter {
			s.sending.countAnew()
			s.decoding.countAnew()
			s.cfg.FreeMemory()
		}
	}
}

// reservedBytes is all that has been reserved since [Bytes.countAnew].
func (r *Bytes) reservedBytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reserved
}

func (r *Bytes) countAnew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reserved = 0
}
