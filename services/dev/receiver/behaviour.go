package receiver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Mode is how a receiver responds to a valid request.
type Mode string

// The modes.
const (
	ModeOK       Mode = "ok"       // 200 after the delay
	ModeStatus   Mode = "status"   // the given status, with Retry-After if set
	ModeHang     Mode = "hang"     // no response until the client disconnects, the behaviour changes or the server stops
	ModeDrip     Mode = "drip"     // 200, then one byte per delay until one of these events
	ModeClose    Mode = "close"    // closes the connection without a response
	ModeRedirect Mode = "redirect" // 307 (or the given 3xx) to Location
	ModeHuge     Mode = "huge"     // 200 with a body of Bytes
)

// Behaviour configures how a receiver responds. The zero value accepts every request.
type Behaviour struct {
	Mode        Mode    `json:"mode"`
	Status      int     `json:"status,omitempty"`      // for status and redirect; 500 and 307 if 0
	DelayMs     int     `json:"delayMs,omitempty"`     // before the response; for drip, between bytes (500 if 0)
	Probability float64 `json:"probability,omitempty"` // share of affected requests, 0 to 1; all if 0
	Times       int     `json:"times,omitempty"`       // number of affected requests; unlimited if 0
	RetryAfter  int     `json:"retryAfter,omitempty"`  // seconds, for status
	Location    string  `json:"location,omitempty"`    // for redirect; the hook <name>-redirected if empty
	Bytes       int64   `json:"bytes,omitempty"`       // for huge; 64 MiB if 0
}

const (
	maxDelay   = time.Hour
	hugeBytes  = 64 << 20
	dripPeriod = 500 * time.Millisecond
)

// ParseBehaviour parses a mode with optional settings, such as "hang" or "status,status=503,probability=0.1",
// or the JSON object of POST /behaviour. The keys are those of the JSON form.
func ParseBehaviour(text string) (Behaviour, error) {
	var b Behaviour
	text = strings.TrimSpace(text)
	if text == "" {
		return b, nil
	}
	if !strings.HasPrefix(text, "{") {
		text = behaviourJSON(text)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		return Behaviour{}, fmt.Errorf("behaviour must be a mode with settings, such as status,status=503,probability=0.1: %w", err)
	}
	return b, b.check()
}

// behaviourJSON converts mode,key=value,… to the JSON form.
func behaviourJSON(text string) string {
	mode, settings, _ := strings.Cut(text, ",")
	var out strings.Builder
	fmt.Fprintf(&out, `{"mode":%q`, strings.TrimSpace(mode))
	for setting := range strings.SplitSeq(settings, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(setting), "=")
		if !ok && key == "" {
			continue
		}
		if key == "location" {
			value = fmt.Sprintf("%q", value)
		}
		fmt.Fprintf(&out, ",%q:%s", key, value)
	}
	return out.String() + "}"
}

// check reports all invalid settings at once.
func (b Behaviour) check() error {
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	switch b.Mode {
	case "", ModeOK, ModeStatus, ModeHang, ModeDrip, ModeClose, ModeRedirect, ModeHuge:
	default:
		add("mode %q must be one of ok, status, hang, drip, close, redirect, huge", b.Mode)
	}
	if b.Mode == ModeRedirect && b.Status != 0 && (b.Status < 300 || b.Status > 399) {
		add("status %d must be between 300 and 399 for redirect", b.Status)
	}
	if b.Status != 0 && (b.Status < 200 || b.Status > 599) {
		add("status %d must be between 200 and 599", b.Status)
	}
	if delay := time.Duration(b.DelayMs) * time.Millisecond; b.DelayMs < 0 || delay > maxDelay {
		add("delayMs %d must be between 0 and %d", b.DelayMs, maxDelay.Milliseconds())
	}
	if b.Probability < 0 || b.Probability > 1 {
		add("probability %g must be between 0 and 1", b.Probability)
	}
	if b.Times < 0 || b.RetryAfter < 0 || b.Bytes < 0 {
		add("times, retryAfter and bytes must not be negative")
	}
	if len(faults) > 0 {
		return fmt.Errorf("behaviour: %s", strings.Join(faults, "; "))
	}
	return nil
}

// status returns the HTTP status of the response; 0 if the client gets no complete response.
func (b Behaviour) status() int {
	switch b.Mode {
	case ModeStatus:
		return cmp.Or(b.Status, http.StatusInternalServerError)
	case ModeRedirect:
		return cmp.Or(b.Status, http.StatusTemporaryRedirect)
	case ModeHang, ModeClose, ModeDrip:
		return 0
	default:
		return http.StatusOK
	}
}

// outcome returns the key of the behaviour in the report's byStatus.
func (b Behaviour) outcome() string {
	if s := b.status(); s != 0 {
		return fmt.Sprint(s)
	}
	return string(b.Mode)
}

// active is the current behaviour. Closing end releases the requests that hang in it.
type active struct {
	Behaviour
	left int           // remaining affected requests; only used if Times is set
	end  chan struct{} // closed when another behaviour replaces it
}

// answer responds to a request according to the behaviour. It runs in the request's goroutine.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, name string, a *active) {
	b := a.Behaviour
	if b.Mode != ModeDrip && b.Mode != ModeHang && b.DelayMs > 0 && !s.pause(r, a, time.Duration(b.DelayMs)*time.Millisecond) {
		panic(http.ErrAbortHandler)
	}
	switch b.Mode {
	case ModeHang:
		s.pause(r, a, maxDelay)
		panic(http.ErrAbortHandler) // makes net/http close the connection without a response
	case ModeClose:
		panic(http.ErrAbortHandler)
	case ModeDrip:
		s.drip(w, r, a)
	case ModeHuge:
		writeHuge(w, r, cmp.Or(b.Bytes, hugeBytes))
	case ModeRedirect:
		w.Header().Set("Location", cmp.Or(b.Location, "/hook/"+name+"-redirected"))
		w.WriteHeader(b.status())
	case ModeStatus:
		if b.RetryAfter > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(b.RetryAfter))
		}
		w.WriteHeader(b.status())
		fmt.Fprintf(w, "responding with %d as configured", b.status()) //nolint:gosec // a number
	default:
		w.WriteHeader(http.StatusOK)
	}
}

// pause waits; it returns false if the client has disconnected, the server is stopping or the behaviour was replaced.
func (s *Server) pause(r *http.Request, a *active, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-s.stopped:
	case <-a.end:
	}
	return false
}

func (s *Server) drip(w http.ResponseWriter, r *http.Request, a *active) {
	period := cmp.Or(time.Duration(a.DelayMs)*time.Millisecond, dripPeriod)
	flush := http.NewResponseController(w)
	w.WriteHeader(http.StatusOK)
	for {
		if _, err := w.Write([]byte(".")); err != nil || flush.Flush() != nil {
			return
		}
		if !s.pause(r, a, period) {
			panic(http.ErrAbortHandler) // a clean end would make the response complete
		}
	}
}

func writeHuge(w http.ResponseWriter, r *http.Request, size int64) {
	chunk := make([]byte, 32<<10)
	for i := range chunk {
		chunk[i] = 'x'
	}
	w.WriteHeader(http.StatusOK)
	for size > 0 && r.Context().Err() == nil {
		n, err := w.Write(chunk[:min(size, int64(len(chunk)))])
		if err != nil {
			return
		}
		size -= int64(n)
	}
}
