package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// ListenCmd brings the events of a company to a receiver on this machine, which needs no public address.
type ListenCmd struct {
	ClientFlags
	feedFlags
	ForwardTo string `help:"Where to POST them, such as http://localhost:3000/hook." required:"" placeholder:"URL"`
	Insecure  bool   `help:"Do not verify the certificate of --forward-to, as for a receiver on this machine with one that it signed itself."`
	Secret    string `help:"Secret of the signatures, whsec_…; by default that of the profile, or a new one. It is shown at the start." secret:"true"`
}

const (
	forwardTries = 4
	forwardPause = time.Second
	forwardTime  = 10 * time.Second // as long as the platform waits for a receiver
)

// Run forwards until it is interrupted.
func (c *ListenCmd) Run(ctx context.Context, out io.Writer) error {
	u, err := url.Parse(c.ForwardTo)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return fmt.Errorf("--forward-to %q: must be a URL such as http://localhost:3000/hook", c.ForwardTo)
	}
	p, err := c.read()
	if err != nil {
		return err
	}
	secret := cmp.Or(c.Secret, p.Secret, webhook.NewSecret())
	signer, err := webhook.NewSigner(secret, "")
	if err != nil {
		return fmt.Errorf("--secret: %w", err)
	}
	api, err := c.client()
	if err != nil {
		return err
	}
	f, err := c.open(api, out)
	if err != nil {
		return err
	}
	to := &forwarder{url: egress.WithEncodedQuery(u).String(), signer: signer, id: uuid.New(), out: out, http: c.receiver()}
	if _, err := f.page(ctx, to.forward); err != nil { // finds the place in the log, or tells why not
		return err
	}
	fmt.Fprintf(out, "forwarding to %s; signing secret %s\n", c.ForwardTo, secret)
	err = f.follow(ctx, to.forward)
	if ctx.Err() != nil {
		fmt.Fprintf(out, "forwarded %d events, %d of them were refused; go on with --from %s\n", to.sent, to.refused, f.cursor)
	}
	return err
}

// receiver is a client for --forward-to.
func (c *ListenCmd) receiver() *http.Client {
	client := &http.Client{
		Timeout: forwardTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if c.Insecure {
		client.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // asked for
		}
	}
	return client
}

// forwarder sends events to one receiver, one after the other.
type forwarder struct {
	url    string
	signer *webhook.Signer
	id     uuid.UUID // in place of the id of a subscription
	http   *http.Client
	out    io.Writer

	sent, refused int
}

// forward sends one event. A receiver that cannot be reached is tried again for a moment, because it may just be restarting.
func (f *forwarder) forward(ctx context.Context, e *Logged) error {
	for try := 1; ; try++ {
		start := time.Now()
		status, err := f.post(ctx, e, try)
		took := time.Since(start).Round(time.Millisecond)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && try < forwardTries:
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(forwardPause):
			}
			continue
		case err != nil:
			fmt.Fprintf(f.out, "%s → %v\n", e.line(), err)
		default:
			fmt.Fprintf(f.out, "%s → %d in %s\n", e.line(), status, took)
		}
		if f.sent++; err != nil || status < 200 || status > 299 {
			f.refused++
		}
		return nil
	}
}

func (f *forwarder) post(ctx context.Context, e *Logged, try int) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, bytes.NewReader(e.raw))
	if err != nil {
		return 0, err
	}
	f.signer.Sign(req.Header, webhook.Attempt{
		Event: e.Event, EventID: e.EventID.String(), DeliveryID: webhook.DeliveryID(e.EventID, f.id, 0).String(),
		WebhookID: f.id.String(), Number: try, At: time.Now(),
	}, e.raw)
	res, err := f.http.Do(req)
	if err != nil {
		if failure, ok := errors.AsType[net.Error](err); ok && failure.Timeout() {
			return 0, fmt.Errorf("no answer within %s", forwardTime)
		}
		if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
			return 0, fmt.Errorf("%w; --insecure takes any certificate", err)
		}
		return 0, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // only the status counts
	return res.StatusCode, res.Body.Close()
}
