package transport

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// ClientIP is the address that limits and allow-lists apply to: the nearest one that is not a trusted proxy. Proxies
// append to X-Forwarded-For or add another line, so all lines are read as one list, from the right; entries further
// left are under the client's control.
func (s *Server) ClientIP(fc *fiber.Ctx) netip.Addr {
	addr, ok := netip.AddrFromSlice(fc.Context().RemoteIP())
	if addr = addr.Unmap(); !ok || !s.trusts(addr) {
		return addr
	}
	lines := fc.Request().Header.PeekAll(fiber.HeaderXForwardedFor)
	hops := strings.Split(string(bytes.Join(lines, []byte(","))), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return addr // the last known address
		}
		if addr = next.Unmap(); !s.trusts(addr) {
			return addr
		}
	}
	return addr
}

func (s *Server) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(s.cfg.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}
