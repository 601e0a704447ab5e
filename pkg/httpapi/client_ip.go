package httpapi

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// clientIP is the address that limits and allow-lists look at: the nearest one that is no trusted proxy. Proxies append to
// X-Forwarded-For, so it is read from its end; what stands further left is whatever the client wrote.
func (a *API) clientIP(fc *fiber.Ctx) netip.Addr {
	addr, ok := netip.AddrFromSlice(fc.Context().RemoteIP())
	if addr = addr.Unmap(); !ok || !a.trusts(addr) {
		return addr
	}
	hops := strings.Split(fc.Get(fiber.HeaderXForwardedFor), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return addr // the last one that is known
		}
		if addr = next.Unmap(); !a.trusts(addr) {
			return addr
		}
	}
	return addr
}

func (a *API) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(a.cfg.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}
