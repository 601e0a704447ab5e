package httpapi

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// PublicPage is a page for people who have no token but a link, whose last segment says what they may see and change.
type PublicPage interface {
	// Check reports whether the segment is a link of this platform, by its signature alone. What it names limits the visits.
	Check(segment string) (name string, ok bool, err error)
	// Serve answers a visit. A visit by GET changes nothing: programs that scan mail follow links.
	Serve(ctx context.Context, v Visit) (Document, error)
	// Refuse is the page for a visit that is not served.
	Refuse(v Visit, f *apierr.Error) Document
}

// Visit is a request for a [PublicPage].
type Visit struct {
	Segment string
	Post    bool
	Query   url.Values
	Form    url.Values // of a visit by POST
	Accepts string     // languages, as Accept-Language has them
}

// Document is the answer to a [Visit]: a page, or the address of another one.
type Document struct {
	Status   int
	HTML     []byte
	Location string // of another page, with status 303
	Policy   string // of its content
}

// Limits of visits, in each process; see docs/reference/limits.md#public-pages.
const (
	maxForm       = 4 << 10
	visitsBurst   = 60
	visitsRefill  = 1.0 // per second and address
	onePageBurst  = 30
	onePageRefill = 0.5 // per second and what the link names
)

// publicPage is a page with what limits its visits.
type publicPage struct {
	PublicPage

	api       *API
	byAddress *ratelimit.Keyed[netip.Addr]
	byName    *ratelimit.Keyed[string]
}

// ServePage serves a page below a path at the root of the host, such as /b/, outside that of the API.
func (a *API) ServePage(path string, page PublicPage) {
	p := &publicPage{
		page, a, ratelimit.NewKeyed[netip.Addr](visitsBurst, visitsRefill, nil), ratelimit.NewKeyed[string](onePageBurst, onePageRefill, nil),
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		a.server.SecretRoute(method, path, "segment", p.receive)
	}
}

func (p *publicPage) receive(fc *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(fc.UserContext(), p.api.cfg.Timeout)
	defer cancel()
	v := Visit{Segment: fc.Params("segment"), Post: fc.Method() == http.MethodPost, Accepts: fc.Get(fiber.HeaderAcceptLanguage)}
	d, err := p.visit(ctx, fc, &v)
	if err != nil {
		f := p.api.server.Fault(ctx, err, "method", fc.Method(), "route", fc.Route().Path, "request_id", transport.RequestID(fc))
		if f.RetryAfter > 0 {
			fc.Set(fiber.HeaderRetryAfter, strconv.Itoa(f.RetryAfter))
		}
		d = p.Refuse(v, f)
	}
	write(fc, d)
	return nil
}

// visit limits a visit before anything of it is looked up, and then serves it.
func (p *publicPage) visit(ctx context.Context, fc *fiber.Ctx, v *Visit) (d Document, err error) {
	ip := p.api.server.ClientIP(fc)
	if limit := p.byAddress.Take(ratelimit.Host(ip)); !limit.OK {
		rateLimited.WithLabelValues(limitVisits).Inc()
		return d, rateFault(limit, "too many visits from this address")
	}
	name, ok, err := p.Check(v.Segment)
	if err != nil {
		return d, err
	}
	if !ok {
		return d, errNoPage
	}
	if limit := p.byName.Take(name); !limit.OK {
		rateLimited.WithLabelValues(limitVisits).Inc()
		return d, rateFault(limit, "too many visits of this page")
	}
	if p.api.cfg.Gate != nil {
		leave, err := p.api.cfg.Gate.Enter()
		if err != nil {
			return d, err
		}
		defer leave()
	}
	if v.Query, err = url.ParseQuery(string(fc.Context().QueryArgs().QueryString())); err != nil {
		v.Query = url.Values{}
	}
	if v.Post {
		if err := p.admitChange(ctx, fc, v); err != nil {
			return d, err
		}
	}
	return p.Serve(ctx, *v)
}

var errNoPage = apierr.New(http.StatusNotFound, "ROUTE_NOT_FOUND", "there is no such page")

// admitChange reads the form of a change that the platform can accept now.
func (p *publicPage) admitChange(ctx context.Context, fc *fiber.Ctx, v *Visit) error {
	if p.api.cfg.Gate != nil {
		if err := p.api.cfg.Gate.Admit(); err != nil {
			return err
		}
	}
	if media, _, err := mime.ParseMediaType(fc.Get(fiber.HeaderContentType)); err != nil || media != fiber.MIMEApplicationForm {
		return apierr.New(http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "send the form of the page")
	}
	raw, err := transport.BodyOf(fc).Read(ctx, maxForm)
	if errors.Is(err, transport.ErrBodyTooLarge) {
		return apierr.New(http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE", "send the form of the page")
	}
	if err != nil {
		return err
	}
	if v.Form, err = url.ParseQuery(string(raw)); err != nil {
		return apierr.InvalidField("body", apierr.Format, "must be the form of the page")
	}
	return nil
}

// write sends a page that nobody keeps, indexes, frames, or is told of.
func write(fc *fiber.Ctx, d Document) {
	for name, value := range map[string]string{
		fiber.HeaderContentSecurityPolicy: d.Policy, fiber.HeaderXFrameOptions: "DENY", fiber.HeaderReferrerPolicy: "no-referrer",
		fiber.HeaderCacheControl: "no-store", "X-Robots-Tag": "noindex, nofollow, noarchive", "Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
	} {
		fc.Set(name, value)
	}
	fc.Status(d.Status)
	if d.Location != "" {
		fc.Set(fiber.HeaderLocation, d.Location)
		return
	}
	fc.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	fc.Response().SetBodyRaw(d.HTML)
}
