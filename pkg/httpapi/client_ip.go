package httpapi

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// clientIP is the address that limits and allow-lists apply to: the nearest one that is not a trusted proxy. Proxies
// append to X-Forwarded-For or add another line, so all lines are read as one list, from the right; entries further
// left are under the client's control.
func (a *API) clientIP(fc *fiber.Ctx) netip.Addr {
	addr, ok := netip.AddrFromSlice(fc.Context().RemoteIP())
	if addr = addr.Unmap(); !ok || !a.trusts(addr) {
		return addr
	}
	lines := fc.Request().Header.PeekAll(fiber.HeaderXForwardedFor)
	hops := strings.Split(string(bytes.Join(lines, []byte(","))), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return addr // the last known address
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
