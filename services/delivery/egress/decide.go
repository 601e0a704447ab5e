package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"golang.org/x/net/http/httpguts"
)

// Verdict is what the guard decides about an address.
type Verdict struct {
	Address netip.Addr `json:"address"`
	Refusal string     `json:"refusal"` // the range that refuses it; "" = allowed
}

// Decide tells what a client makes of a URL: the error of [CheckURL] or of its name, or what it decides about each address that
// the name stands for at the moment. A connection goes to the first one that is allowed and answers.
func Decide(ctx context.Context, resolver *net.Resolver, raw string, allowInsecure bool) ([]Verdict, error) {
	if err := CheckURL(raw, allowInsecure); err != nil {
		return nil, err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("parse URL: %w", err)
	}
	host, err := httpguts.PunycodeHostPort(u.Hostname()) // as net/http does
	if err != nil {
		return nil, fmt.Errorf("must have a valid host name: %w", err)
	}
	addresses, err := resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("look up the host: %w", err)
	}
	all := make([]Verdict, len(addresses))
	for i, addr := range addresses {
		all[i].Address = addr.Unmap()
		if !allowInsecure {
			all[i].Refusal = refusal(addr)
		}
	}
	return all, nil
}
