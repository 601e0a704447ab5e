package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
	"golang.org/x/net/http/httpguts"
)

// MaxURL is the maximum length of a receiver's URL in bytes.
const MaxURL = 2048

// The lists of the registries of special-purpose addresses, which a module keeps. Of IPv6, only global unicast is allowed,
// except the ranges that are refused.
var (
	refused4 = append(slices.Clone(ssrf.IPv4DeniedPrefixes), azure)
	global6  = ssrf.IPv6GlobalUnicast
	refused6 = ssrf.IPv6DeniedPrefixes
	nat64    = []netip.Prefix{ssrf.IPv6NAT64Prefix}
)

// azure is an address of a public range at which each machine of that cloud reaches its host, with its configuration. What other
// clouds have is in ranges that are refused.
var azure = netip.MustParsePrefix("168.63.129.16/32")

// Public reports whether an address identifies a single host on the public internet. For an IPv4 address embedded in
// an IPv6 one (mapped, NAT64), the IPv4 address decides.
func Public(addr netip.Addr) bool { return refusal(addr) == "" }

// refusal names the range because of which an address is not public; "" = it is.
func refusal(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	switch {
	case !addr.IsValid():
		return "not an address"
	case addr.Is4():
		return rangeOf(addr, refused4)
	case rangeOf(addr, nat64) != "":
		b := addr.As16()
		return refusal(netip.AddrFrom4([4]byte(b[12:])))
	case !global6.Contains(addr):
		return "outside of " + global6.String()
	}
	return rangeOf(addr, refused6)
}

// rangeOf is the one of the ranges that holds the address; "" = none.
func rangeOf(addr netip.Addr, list []netip.Prefix) string {
	for _, p := range list {
		if p.Contains(addr) {
			return p.String()
		}
	}
	return ""
}

// guard is the dialer's Control function. It checks the resolved address of every connection right before it is
// established, which defeats DNS rebinding.
func guard(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !Public(ap.Addr()) {
		return errNotPublic
	}
	return nil
}

var errNotPublic = &Error{Kind: Refused, Message: "the receiver's address is not public; private, loopback, link-local and metadata addresses are refused"}

// CheckURL validates a receiver's URL: https (or http if allowInsecure), a host, no user or password, no fragment, at
// most 2 048 bytes. The error is a text for the user who entered the URL.
// IP addresses in the URL are checked too; those of host names are checked when connecting.
func CheckURL(raw string, allowInsecure bool) error {
	if len(raw) > MaxURL {
		return fmt.Errorf("must be at most %d characters long", MaxURL)
	}
	u, err := url.Parse(raw)
	if err != nil || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return errors.New("must be a URL such as https://example.com/hook")
	}
	scheme := strings.ToLower(u.Scheme)
	if scheme != "https" && (scheme != "http" || !allowInsecure) {
		return errors.New("must begin with https://")
	}
	return checkParts(u, allowInsecure)
}

func checkParts(u *url.URL, allowInsecure bool) error {
	switch {
	case u.Hostname() == "" || u.Opaque != "":
		return errors.New("must name a host, such as https://example.com/hook")
	case u.User != nil:
		return errors.New("must not hold a user name or password; requests are signed instead")
	case u.Fragment != "":
		return errors.New("must not have a fragment (#…); it is never sent")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return errors.New("must have a port of 1 to 65535, or none")
		}
	} else if strings.HasSuffix(u.Host, ":") {
		return errors.New("must have a port of 1 to 65535 after the colon, or none")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !allowInsecure && !Public(addr) {
		return errors.New("must name a public host; private, loopback and link-local addresses are refused")
	}
	return nil
}

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
