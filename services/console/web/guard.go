package web

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

// policy lets a page load only what the console serves: no inline scripts, no inline styles, nothing from elsewhere, no frames.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ProviderCallback is the path that an OpenID Connect provider sends people back to.
const ProviderCallback = "/sign-in/provider/callback"

// guard wraps all routes: headers, the size of requests, the check that a change comes from a page of the console, and panics.
func (a *App) guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(a.crossOrigin))
	inner := cross.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// CrossOriginProtection passes what says nothing of its origin, for programs that are no browsers. The console is for
		// browsers, all of which say so with each POST.
		if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
			a.crossOrigin(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, id := withRequestID(r)
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(self), geolocation=(), microphone=(), payment=()")
		h.Set("X-Request-Id", id)
		if a.secure() {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		defer a.recovered(w, r, id)
		inner.ServeHTTP(w, r)
	})
}

// recovered answers for a page that panicked.
func (a *App) recovered(w http.ResponseWriter, r *http.Request, id string) {
	if v := recover(); v != nil {
		if v == http.ErrAbortHandler { //nolint:errorlint // the server compares it so, too
			panic(v)
		}
		a.cfg.Log.ErrorContext(r.Context(), "console page failed", "panic", v, "path", r.URL.Path, "request_id", id)
		http.Error(w, "The page could not be made. The operators of the platform find it in their log as "+id+".", http.StatusInternalServerError)
	}
}

// crossOrigin refuses a change that a page of another site asked for.
func (a *App) crossOrigin(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "This request came from a page of another site, and was not carried out. Open the page of the console and try again.", http.StatusForbidden)
}

func (a *App) secure() bool { return strings.HasPrefix(a.cfg.URL, "https://") }

// sessionCookie is the name of the cookie of a session. __Host- binds it to this host and to TLS.
func (a *App) sessionCookie() string {
	if a.secure() {
		return "__Host-tradegrid"
	}
	return "tradegrid"
}

func (a *App) deviceCookie() string { return a.sessionCookie() + "-device" }

// SignedIn adds the cookies of a session that began.
func (a Answer) SignedIn(q *Request, e accounts.Entered) Answer {
	a = a.With(q.app.cookie(q.app.sessionCookie(), e.Token, int(accounts.Longest.Seconds())))
	if e.Device != "" {
		a = a.With(q.app.cookie(q.app.deviceCookie(), e.Device, 400*24*3600))
	}
	return a
}

// SignedOut ends the session of the browser.
func (a Answer) SignedOut(q *Request) Answer {
	return a.With(q.app.cookie(q.app.sessionCookie(), "", -1))
}

// KeptCookie is a cookie of a page, that the browser keeps for some seconds; 0 ends it. Its value has to be sealed.
func (q *Request) KeptCookie(name, sealed string, seconds int) *http.Cookie {
	if seconds == 0 {
		seconds = -1
	}
	return q.app.cookie(q.app.sessionCookie()+"-"+name, sealed, seconds)
}

// Kept is the value of such a cookie; "" = there is none.
func (q *Request) Kept(name string) string {
	c, err := q.HTTP.Cookie(q.app.sessionCookie() + "-" + name)
	if err != nil {
		return ""
	}
	return c.Value
}

// Ceremony names the cookie of a sign-in, or of a passkey that is made, while it takes a second request.
const Ceremony = "ceremony"

// Keep lets the browser keep what the second request of a ceremony is checked against.
func (a Answer) Keep(q *Request, sealed string) Answer {
	return a.With(q.KeptCookie(Ceremony, sealed, int(accounts.CeremonyWithin.Seconds())))
}

func (a *App) cookie(name, value string, maxAge int) *http.Cookie {
	//nolint:gosec // G124: secure wherever the console is reached over TLS; http:// is for this machine
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: a.secure(), SameSite: http.SameSiteLaxMode}
}

// visit says from where somebody asks.
func (a *App) visit(r *http.Request) accounts.Visit {
	v := accounts.Visit{Address: a.clientAddress(r), Agent: r.UserAgent()}
	if c, err := r.Cookie(a.deviceCookie()); err == nil {
		v.Device = c.Value
	}
	return v
}

// clientAddress is the nearest address that is not a trusted proxy, as the APIs find it.
func (a *App) clientAddress(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(host)
	if addr = addr.Unmap(); err != nil || !a.trusts(addr) {
		return addr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return addr
		}
		if addr = next.Unmap(); !a.trusts(addr) {
			return addr
		}
	}
	return addr
}

func (a *App) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(a.cfg.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}
