// Package receiver is a webhook receiver for tests, demonstrations and load tests. It verifies
// signatures, detects duplicate deliveries, counts and reports what arrived, and can simulate faulty receivers.
// One process serves any number of named receivers; each is created when its name is first used.
package receiver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// DefaultName is the name of the receiver for paths without a name.
const DefaultName = "default"

const (
	maxBody      = 1 << 20
	maxReceivers = 10_000
	defaultIDs   = 4_000_000
)

// Config is the initial configuration of receivers. By default they accept every request and check no signatures.
type Config struct {
	Secret    string           // default signing secret of receivers; empty: not checked
	Behaviour Behaviour        // default behaviour of receivers
	Tolerance time.Duration    // maximum age of a signed timestamp; 0: not checked
	MaxIDs    int              // delivery ids stored per receiver; 0: 4 million (about 40 bytes each)
	Now       func() time.Time // nil: time.Now
	Arrived   func(Delivery)   // called for every request after it was recorded; may be nil
}

// Server is the HTTP handler of all receivers. Close it before the HTTP server that uses it, so that
// requests that hang on purpose end.
type Server struct {
	cfg      Config
	verifier *webhook.Verifier
	mux      *http.ServeMux
	stop     sync.Once
	stopped  chan struct{}

	mu      sync.RWMutex
	inboxes map[string]*inbox
}

// New creates the handler. It panics if [Config.Check] returns an error.
func New(cfg Config) *Server {
	if err := cfg.Check(); err != nil {
		panic("receiver: " + err.Error())
	}
	cfg.MaxIDs = cmp.Or(cfg.MaxIDs, defaultIDs)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{cfg: cfg, mux: http.NewServeMux(), stopped: make(chan struct{}), inboxes: map[string]*inbox{}}
	if cfg.Secret != "" {
		s.verifier, _ = webhook.NewVerifier(cfg.Secret) // checked above
	}
	for _, path := range []string{"", "/{name}"} {
		s.mux.HandleFunc("POST /hook"+path, s.hook)
		s.mux.HandleFunc("GET /deliveries"+path, s.deliveries)
		s.mux.HandleFunc("GET /wait"+path, s.wait)
		s.mux.HandleFunc("POST /behaviour"+path, s.setBehaviour)
		s.mux.HandleFunc("DELETE /behaviour"+path, s.clearBehaviour)
		s.mux.HandleFunc("POST /secrets"+path, s.setSecret)
		s.mux.HandleFunc("DELETE /latency"+path, s.clearLatency)
		s.mux.HandleFunc("POST /reset"+path, s.reset)
	}
	s.mux.HandleFunc("POST /promises", s.setPromises)
	s.mux.HandleFunc("GET /report", s.reportAll)
	s.mux.HandleFunc("GET /report/{name}", s.report)
	s.mux.HandleFunc("DELETE /receivers", s.forgetAll)
	return s
}

// Check reports all invalid settings.
func (c Config) Check() error {
	var faults []error
	if c.Secret != "" {
		faults = append(faults, webhook.CheckSecret(c.Secret))
	}
	if c.Tolerance < 0 || c.MaxIDs < 0 {
		faults = append(faults, errors.New("the tolerance and the number of remembered ids must not be negative"))
	}
	return errors.Join(append(faults, c.Behaviour.check())...)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends hanging, dripping and waiting requests. It may be called more than once.
func (s *Server) Close() { s.stop.Do(func() { close(s.stopped) }) }

// Report returns what the named receiver got; the zero value if it got nothing.
func (s *Server) Report(name string) Report { return s.countsOf(name).report() }

// SetSecret sets the signing secret of a receiver; an empty one disables the check. The error says what is malformed.
func (s *Server) SetSecret(name, secret string) error {
	var v *webhook.Verifier
	if secret != "" {
		var err error
		if v, err = webhook.NewVerifier(secret); err != nil {
			return err
		}
	}
	in, err := s.inbox(name)
	if err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.verifier = v
	return nil
}

// SetBehaviour changes how a receiver responds, and releases requests that hang in the old behaviour.
func (s *Server) SetBehaviour(name string, b Behaviour) error {
	if err := b.check(); err != nil {
		return err
	}
	in, err := s.inbox(name)
	if err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.setBehaviour(b)
	return nil
}

// Forget deletes the receivers whose names begin with the prefix and all their state. The next use of
// such a name creates a new receiver.
func (s *Server) Forget(prefix string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, in := range s.inboxes {
		if strings.HasPrefix(name, prefix) {
			in.reset(s.cfg.Behaviour) // releases the requests that hang in it
			delete(s.inboxes, name)
		}
	}
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// inbox returns the named receiver; it creates it if necessary.
func (s *Server) inbox(name string) (*inbox, error) {
	name = cmp.Or(name, DefaultName)
	s.mu.RLock()
	in := s.inboxes[name]
	s.mu.RUnlock()
	if in != nil {
		return in, nil
	}
	if !nameForm.MatchString(name) {
		return nil, fmt.Errorf("the receiver name %q must be 1 to 64 letters, digits, dots, dashes or underscores", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if in := s.inboxes[name]; in != nil {
		return in, nil
	}
	if len(s.inboxes) >= maxReceivers {
		return nil, fmt.Errorf("there are already %d receivers in this process; use one of them", maxReceivers)
	}
	in = newInbox(s.verifier, s.cfg.Behaviour, s.cfg.MaxIDs)
	s.inboxes[name] = in
	return in, nil
}

// requestInbox returns the receiver named in the path; ok is false if it responded with an error.
func (s *Server) requestInbox(w http.ResponseWriter, r *http.Request) (in *inbox, ok bool) {
	in, err := s.inbox(r.PathValue("name"))
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return nil, false
	}
	return in, true
}

func (s *Server) hook(w http.ResponseWriter, r *http.Request) {
	now := s.cfg.Now()
	in, ok := s.requestInbox(w, r)
	if !ok {
		return
	}
	body, err := readBody(w, r)
	if err != nil {
		writeError(w, http.StatusRequestEntityTooLarge, fmt.Errorf("read body: %w", err))
		return
	}
	in.mu.Lock()
	verifier := in.verifier
	in.mu.Unlock()
	d := s.read(r, body, now)
	if verifier != nil {
		if err := verifier.Verify(r.Header, body, now, s.cfg.Tolerance); err != nil {
			d.Error = err.Error()
		}
		d.Verified = d.Error == ""
	}
	// An invalid occurredAt results in a latency of 0, not of centuries.
	occurredAt, err := time.Parse(time.RFC3339, d.OccurredAt)
	if err != nil {
		occurredAt = now
	}
	a := in.record(&d, verifier != nil, now.Sub(occurredAt))
	if s.cfg.Arrived != nil {
		s.cfg.Arrived(d)
	}
	if a == nil {
		writeError(w, http.StatusUnauthorized, errors.New(d.Error))
		return
	}
	s.answer(w, r, cmp.Or(r.PathValue("name"), DefaultName), a)
}

// read builds the delivery of a request.
func (s *Server) read(r *http.Request, body []byte, now time.Time) Delivery {
	var e struct {
		Event      string `json:"event"`
		CompanyID  string `json:"companyId"`
		OccurredAt string `json:"occurredAt"`
		EventID    string `json:"eventId"`
		Data       struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	// Fields of another type stay empty, and a body that is not JSON is stored nevertheless, so that the
	// report shows what arrived.
	_ = json.Unmarshal(body, &e)
	attempt, _ := strconv.Atoi(r.Header.Get(webhook.HeaderAttempt))
	return Delivery{
		ID: r.Header.Get(webhook.HeaderDeliveryID), WebhookID: r.Header.Get(webhook.HeaderWebhookID), Attempt: attempt,
		Event: cmp.Or(e.Event, r.Header.Get(webhook.HeaderEvent)), EventID: cmp.Or(e.EventID, r.Header.Get(webhook.HeaderEventID)),
		CompanyID: e.CompanyID, DataID: e.Data.ID, OccurredAt: e.OccurredAt, ReceivedAt: now,
		Traceparent: r.Header.Get("Traceparent"), raw: body,
	}
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > maxBody {
		return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}
