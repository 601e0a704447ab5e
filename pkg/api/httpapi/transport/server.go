// Package transport serves HTTP/1.1: it accepts connections within their limits, checks how requests are framed, reads bodies,
// finds routes, and writes errors, files and pages. It leaves callers, operations and their inputs to others.
package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
)

// Limits of a request; see docs/reference/limits.md#request-size.
const (
	headerTimeout  = 10 * time.Second
	writeTimeout   = 60 * time.Second
	maxHeaderBytes = 8 << 10 // request line and headers together
)

// Edge is where clients reach a server, and how many connections they may have.
type Edge struct {
	PublicURL                string `help:"Scheme and host that clients reach the API at, such as https://api.example.com, for links in answers; without it they are relative." placeholder:"URL" same:"platform"`
	MaxConnections           int    `help:"Open connections of this process; those above it are answered 503 and closed. 0 = no limit." default:"5000"`
	MaxConnectionsPerAddress int    `help:"Open connections from one address, or one IPv6 /64, that is not in --trusted-proxies; those above it are answered 429 and closed. 0 = no limit." default:"1000"`
}

// Root is the public URL as links start with it; "" makes them relative.
func (e Edge) Root() string { return strings.TrimSuffix(e.PublicURL, "/") }

// Check validates the settings.
func (e Edge) Check() error {
	var errs []error
	if u, err := url.Parse(e.PublicURL); e.PublicURL != "" && (err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || strings.TrimSuffix(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "") {
		errs = append(errs, fmt.Errorf("--public-url %q: must be a scheme and a host, such as https://api.example.com", e.PublicURL))
	}
	return errors.Join(append(errs,
		config.NotNegative("--max-connections", e.MaxConnections, "no limit"),
		config.NotNegative("--max-connections-per-address", e.MaxConnectionsPerAddress, "no limit"),
	)...)
}

// Config configures a [Server].
type Config struct {
	Edge

	Base          string         // root of the routes
	Release       string         // shown in X-Api-Release
	Timeout       time.Duration  // of one request, as errors name it
	HeaderTimeout time.Duration  // for reading the request line and headers; default 10 s. Bodies have until Timeout.
	Proxies       []netip.Prefix // networks whose X-Forwarded-For is trusted
	Log           *slog.Logger

	Answered func(fc *fiber.Ctx, start time.Time, took time.Duration) // called after each request; may be nil
}

// Server serves the routes of one API.
type Server struct {
	cfg     Config
	app     *fiber.App
	paths   pathTree
	secret  []string                // paths below which a segment is a secret
	direct  fasthttp.RequestHandler // what a request reaches behind the connection
	started sync.Once
}

// New returns a server without routes.
func New(cfg Config) *Server {
	cfg.HeaderTimeout = cmp.Or(cfg.HeaderTimeout, headerTimeout)
	s := &Server{cfg: cfg}
	s.app = fiber.New(fiber.Config{
		DisableStartupMessage: true,
		Immutable:             true, // group commits and caches keep values beyond the handler
		StreamRequestBody:     true, // an operation reads its body, up to its limit, after the caller is authenticated
		ReadBufferSize:        maxHeaderBytes,
		ReadTimeout:           cfg.HeaderTimeout, // from the first byte, or from the start of the connection
		WriteTimeout:          writeTimeout,
		IdleTimeout:           120 * time.Second,
		StrictRouting:         false,
		CaseSensitive:         true,
		ErrorHandler:          s.routeError,
		// Forms are not supported; a malformed one must not fail before it gets its 415.
		DisablePreParseMultipartForm: true,
	})
	s.wrapServer()
	s.app.Use(s.middleware)
	return s
}

// App returns the Fiber application, for tests.
func (s *Server) App() *fiber.App { return s.app }

// Serve accepts requests on the listener until ctx ends, then gives running requests up to 25 s to finish.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	capped := LimitConnections(ln, ConnectionLimits{
		Total: s.cfg.MaxConnections, PerAddress: s.cfg.MaxConnectionsPerAddress, Exempt: s.trusts, Respond: s.rawResponse, Log: s.cfg.Log,
	})
	done := make(chan error, 1)
	go func() { done <- s.app.Listener(capped) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve API on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	if err := s.app.ShutdownWithTimeout(25 * time.Second); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop API: %w", err)
	}
	return nil
}

// Route mounts a handler at a path below the root, with parameters as {id}. HEAD is handled like GET; the server omits the body.
func (s *Server) Route(method, path string, handle fiber.Handler) {
	s.route(method, s.cfg.Base+path, handle)
}

// SecretRoute mounts a handler at a path of the host such as /b/, with one more segment as the named parameter, which is a secret and
// shown in no trace.
func (s *Server) SecretRoute(method, path, param string, handle fiber.Handler) {
	if !slices.Contains(s.secret, path) {
		s.secret = append(s.secret, path)
	}
	s.route(method, path+"{"+param+"}", handle)
}

// shown is a path without a secret.
func (s *Server) shown(path string) string {
	for _, secret := range s.secret {
		if strings.HasPrefix(path, secret) {
			return secret
		}
	}
	return path
}

func (s *Server) route(method, path string, handle fiber.Handler) {
	methods := []string{method}
	if method == http.MethodGet {
		methods = []string{http.MethodGet, http.MethodHead}
	}
	if slices.Contains(s.paths.methods(path), method) {
		panic(method + " " + path + " already has a route: register fixed paths before paths with parameters, and each path once")
	}
	for _, m := range methods {
		s.app.Add(m, fiberPath(path), handle)
	}
	s.paths.add(path, methods...)
}

// fiberPath is a path with parameters as Fiber writes them.
func fiberPath(path string) string { return fiberParams.Replace(path) }

var fiberParams = strings.NewReplacer("{", ":", "}", "")

var fiberParam = regexp.MustCompile(`:([A-Za-z]+)`)

// Routes returns Fiber's routes below the root as method and path, with parameters as {id}.
func (s *Server) Routes() (routes [][2]string) {
	for _, r := range s.app.GetRoutes(true) {
		if path, ok := strings.CutPrefix(r.Path, s.cfg.Base); ok && r.Method != http.MethodHead {
			routes = append(routes, [2]string{r.Method, fiberParam.ReplaceAllString(path, "{$1}")})
		}
	}
	return routes
}

// pathTree maps paths to their methods. Fiber itself considers every matching pattern, so a fixed path would also list,
// and be routed to, the methods of a sibling path with an {id}.
type pathTree struct {
	fixed    map[string]*pathTree
	any      *pathTree // {parameter}
	rest     bool      // ends in *: matches any suffix
	accepted []string
}

// add registers a method of a path such as /things/{id} or /docs/*.
func (t *pathTree) add(path string, methods ...string) {
	for _, segment := range segments(path) {
		if segment == "*" {
			t.rest = true
			break
		}
		t = t.child(segment)
	}
	t.accepted = append(t.accepted, methods...)
	slices.Sort(t.accepted)
}

func (t *pathTree) child(segment string) *pathTree {
	if strings.HasPrefix(segment, "{") {
		if t.any == nil {
			t.any = &pathTree{}
		}
		return t.any
	}
	if t.fixed == nil {
		t.fixed = map[string]*pathTree{}
	}
	if t.fixed[segment] == nil {
		t.fixed[segment] = &pathTree{}
	}
	return t.fixed[segment]
}

// methods returns the methods of the most specific matching pattern, or nil if none matches.
func (t *pathTree) methods(path string) []string { return t.find(segments(path)) }

func (t *pathTree) find(path []string) []string {
	if len(path) == 0 || t.rest {
		return t.accepted
	}
	if next := t.fixed[path[0]]; next != nil {
		if found := next.find(path[1:]); found != nil {
			return found
		}
	}
	if t.any != nil && path[0] != "" {
		return t.any.find(path[1:])
	}
	return nil
}

// segments splits a path as Fiber does, ignoring a trailing slash.
func segments(path string) []string {
	path = strings.TrimRight(strings.TrimPrefix(path, "/"), "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}
