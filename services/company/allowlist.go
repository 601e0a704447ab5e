package company

import (
	"net/netip"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// rangeForm is what parseRange accepts, for the API description: an address or a CIDR range of IPv4 or IPv6, whose grammar is
// that of RFC 3986.
var rangeForm = func() string {
	const (
		byteForm = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
		ipv4     = byteForm + `(\.` + byteForm + `){3}`
		group    = `[0-9a-fA-F]{1,4}`
		low      = `(` + group + `:` + group + `|` + ipv4 + `)` // the last 32 bits
	)
	ipv6 := strings.Join([]string{
		`(` + group + `:){6}` + low,
		`::(` + group + `:){5}` + low,
		`(` + group + `)?::(` + group + `:){4}` + low,
		`((` + group + `:){0,1}` + group + `)?::(` + group + `:){3}` + low,
		`((` + group + `:){0,2}` + group + `)?::(` + group + `:){2}` + low,
		`((` + group + `:){0,3}` + group + `)?::` + group + `:` + low,
		`((` + group + `:){0,4}` + group + `)?::` + low,
		`((` + group + `:){0,5}` + group + `)?::` + group,
		`((` + group + `:){0,6}` + group + `)?::`,
	}, `|`)
	return `^(` + ipv4 + `(/(3[0-2]|[12]?[0-9]))?|(` + ipv6 + `)(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?)$`
}()

// TransformSchema implements [huma.SchemaTransformer].
func (TokenInput) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	items := s.Properties["ipAllowlist"].Items
	items.Pattern, items.PatternDescription = rangeForm, "an address or a CIDR range such as 203.0.113.0/24"
	return s
}

// parseRange reads a CIDR range or a single address.
func parseRange(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	return p.Masked(), err
}
