package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// ParseProxy reads the URL of a proxy.
func ParseProxy(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Port() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" {
		return nil, errors.New("must be http:// or https:// with host and port alone, such as http://proxy.example.com:3128")
	}
	return u, nil
}

// proxyDialer connects to receivers through a proxy. It resolves names itself and asks the proxy (CONNECT) for the address that
// it has checked, so that the proxy cannot be led to another one.
type proxyDialer struct {
	proxy        *url.URL
	tls          *tls.Config // for a proxy with https
	dialer       *net.Dialer
	allowPrivate bool
}

func (d *proxyDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.dialer.Timeout)
	defer cancel()
	targets, err := d.resolve(ctx, address)
	if err != nil {
		return nil, err
	}
	for _, target := range targets {
		var conn net.Conn
		if conn, err = d.connect(ctx, network, target); err == nil {
			return conn, nil
		}
	}
	return nil, &Error{Kind: Connect, Message: "no connection to the receiver through the platform's proxy", Cause: err}
}

// resolve returns the public addresses of a receiver.
func (d *proxyDialer) resolve(ctx context.Context, address string) (targets []string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("receiver %s: %w", address, err)
	}
	resolver := d.dialer.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	addrs, err := resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		if d.allowPrivate || Public(addr) {
			targets = append(targets, net.JoinHostPort(addr.Unmap().String(), port))
		}
	}
	if len(targets) == 0 {
		return nil, errNotPublic
	}
	return targets, nil
}

// connect has the proxy connect to an address.
func (d *proxyDialer) connect(ctx context.Context, network, target string) (net.Conn, error) {
	conn, err := d.dialer.DialContext(ctx, network, d.proxy.Host)
	if err != nil {
		return nil, fmt.Errorf("connect to proxy: %w", err)
	}
	if d.proxy.Scheme == "https" {
		conn = tls.Client(conn, d.tls)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
	err = handshake(conn, target)
	if !stop() {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func handshake(conn net.Conn, target string) error {
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return fmt.Errorf("ask proxy: %w", err)
	}
	r := bufio.NewReaderSize(conn, 4096)
	res, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return fmt.Errorf("ask proxy: %w", err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK || r.Buffered() > 0 { // the receiver says nothing before the client does
		return fmt.Errorf("ask proxy: it answered %s", res.Status)
	}
	return nil
}
