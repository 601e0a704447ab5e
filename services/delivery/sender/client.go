package sender

import (
	"fmt"
	"sync"

	"github.com/tradegrid/tradegrid/services/delivery/egress"
)

// client is the HTTP client of a receiver queue whose subscription has a certificate. It shares no connection with other queues: a
// receiver takes what comes through a connection as coming from whose certificate opened it.
type client struct {
	mu    sync.Mutex
	own   *egress.Client // nil without a certificate
	chain string         // with which it was made
}

// get is the client for a receiver: shared without a certificate.
func (c *client) get(r *receiver, shared *egress.Client) (*egress.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.chain != r.chain {
		c.drop()
	}
	switch {
	case r.chain == "":
		return shared, nil
	case c.own == nil:
		cert, err := egress.Certificate(r.chain, r.clientKey)
		if err != nil {
			return nil, fmt.Errorf("clientKey %w", err)
		}
		c.own, c.chain = shared.With(cert), r.chain
	}
	return c.own, nil
}

// close closes its connections that are not in use.
func (c *client) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
}

func (c *client) drop() {
	if c.own != nil {
		c.own.Close()
	}
	c.own, c.chain = nil, ""
}
