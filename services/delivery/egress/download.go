package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// maxRedirects is how many redirects a download follows.
const maxRedirects = 3

// More kinds, of downloads alone.
const (
	Status    Kind = "http_status"
	Redirects Kind = "redirects"
	TooLarge  Kind = "too_large"
)

// Download returns what a URL has, which may be at most limit bytes. It follows redirects: each URL is checked as the first one is, each
// connection by the guard, and none leads from https to http. All of it takes at most the timeout of the client. The error is
// an [*Error], or that of ctx if ctx is done.
func (c *Client) Download(ctx context.Context, address string, limit int64) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	u, err := c.downloadable(address, "")
	for hop := 0; err == nil; hop++ {
		var body []byte
		var next string
		if body, next, err = c.get(limited, u, limit); err != nil {
			return nil, c.explain(ctx, limited, err)
		}
		if next == "" {
			return body, nil
		}
		if hop == maxRedirects {
			return nil, &Error{Kind: Redirects, Message: fmt.Sprintf("the host redirects more than %d times", maxRedirects)}
		}
		u, err = c.downloadable(next, u.Scheme)
	}
	return nil, err
}

// downloadable checks the URL of a download, or that of a redirect from a URL with the scheme before.
func (c *Client) downloadable(address, before string) (*url.URL, error) {
	refused := func(text string) error { return &Error{Kind: Refused, Message: text} }
	if len(address) > MaxURL {
		return nil, refused(fmt.Sprintf("the URL is longer than %d bytes", MaxURL))
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, refused("this is no URL such as https://example.com/picture.jpg")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, refused("the URL must begin with https:// or http://")
	case before == "https" && u.Scheme == "http":
		return nil, refused("the host redirects from https:// to http://")
	case u.Hostname() == "" || u.Opaque != "":
		return nil, refused("the URL must name a host")
	case u.User != nil:
		return nil, refused("the URL must not hold a user name or password")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && !c.cfg.AllowPrivate && !Public(addr) {
		return nil, errNotPublic
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// get returns the body, or where the host redirects to.
func (c *Client) get(ctx context.Context, u *url.URL, limit int64) (body []byte, next string, err error) {
	req := (&http.Request{
		Method: http.MethodGet, URL: WithEncodedQuery(u), Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Accept": {"image/*"}, "User-Agent": {"svc-files/1.0"}},
	}).WithContext(ctx)
	res, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	switch {
	case isRedirect(res.StatusCode):
		to, err := res.Location()
		if err != nil {
			return nil, "", &Error{Kind: Redirects, Message: "the host redirects, but does not say where to"}
		}
		return nil, to.String(), nil
	case res.StatusCode != http.StatusOK:
		return nil, "", &Error{Kind: Status, Message: fmt.Sprintf("the host answered with the status %d", res.StatusCode)}
	case res.ContentLength > limit:
		return nil, "", tooLarge(limit)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = tooLarge(limit)
	}
	return body, "", err
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func tooLarge(limit int64) error {
	return &Error{Kind: TooLarge, Message: fmt.Sprintf("what the URL has is larger than %d bytes", limit)}
}

// ofDownloads are the texts for downloads of what can happen to any request.
var ofDownloads = map[Kind]string{ //nolint:gochecknoglobals // a constant table
	DNS:     "the name of the host could not be resolved",
	TLS:     "the TLS certificate or handshake of the host was not accepted",
	Connect: "the host refused the connection",
	Timeout: "the host did not send everything in time",
	Broken:  "the connection broke before everything had arrived",
}

// Reason is the text and the kind of an error of [Client.Download], for users; ok is false for the error of a context.
func Reason(err error) (text string, kind Kind, ok bool) {
	var e *Error
	if !errors.As(err, &e) {
		return "", "", false
	}
	if e == errNotPublic {
		return "the address of the host is not public; private, loopback, link-local and metadata addresses are refused", e.Kind, true
	}
	return cmp.Or(ofDownloads[e.Kind], e.Message), e.Kind, true
}
