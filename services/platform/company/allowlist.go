package company

import "net/netip"

// parseRange parses a CIDR range, or an address as the range of this one address.
func parseRange(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}
