package receiver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

const (
	defaultLimit = 100
	defaultWait  = 10 * time.Second
	maxWait      = 10 * time.Minute
)

// countsOf copies the counts of one receiver without creating it.
func (s *Server) countsOf(name string) *counts {
	total := &counts{}
	s.mu.RLock()
	in := s.inboxes[name]
	s.mu.RUnlock()
	if in == nil {
		total.merge(&counts{})
		return total
	}
	total.merge(&counts{promises: in.promises()})
	in.mu.Lock()
	defer in.mu.Unlock()
	total.merge(&in.counts)
	return total
}

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, s.Report(r.PathValue("name")))
}

// reportAll responds with the totals of all receivers with the query's prefix, and the report of each by name.
func (s *Server) reportAll(w http.ResponseWriter, r *http.Request) {
	out := struct {
		Report
		Receivers map[string]Report `json:"receivers"`
	}{Receivers: map[string]Report{}}
	s.mu.RLock()
	names := make([]string, 0, len(s.inboxes))
	for name := range s.inboxes {
		if strings.HasPrefix(name, r.URL.Query().Get("prefix")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	s.mu.RUnlock()
	total := &counts{}
	total.merge(&counts{})
	for _, name := range names {
		c := s.countsOf(name)
		total.merge(c)
		out.Receivers[name] = c.report()
	}
	out.Report = total.report()
	writeJSON(w, http.StatusOK, out)
}

func (s *Server) deliveries(w http.ResponseWriter, r *http.Request) {
	in, ok := s.requestInbox(w, r)
	if !ok {
		return
	}
	query := r.URL.Query()
	limit := defaultLimit
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > keepDeliveries {
			writeError(w, http.StatusBadRequest, fmt.Errorf("limit %q must be a number between 1 and %d", text, keepDeliveries))
			return
		}
		limit = n
	}
	match, err := matcher(query)
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	found := in.recent(limit, match)
	for i := range found {
		found[i].showBody()
	}
	writeJSON(w, http.StatusOK, found)
}

// wait responds with the oldest matching delivery as soon as there is one. Requests whose signature
// was rejected never match.
func (s *Server) wait(w http.ResponseWriter, r *http.Request) {
	in, ok := s.requestInbox(w, r)
	if !ok {
		return
	}
	match, err := matcher(r.URL.Query())
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	timeout, err := waitTimeout(r.URL.Query().Get("timeout"))
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	d, waiter := in.first(match)
	if waiter != nil {
		defer in.forget(waiter)
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		select {
		case d = <-waiter.found:
		case <-timer.C:
			writeError(w, http.StatusRequestTimeout, fmt.Errorf("no matching delivery arrived within %s", timeout))
			return
		case <-s.stopped:
			writeError(w, http.StatusServiceUnavailable, errors.New("the receiver is stopping"))
			return
		case <-r.Context().Done():
			return
		}
	}
	d.showBody()
	writeJSON(w, http.StatusOK, d)
}

// matcher parses the conditions event (name or pattern), dataId and after (a seq or an RFC 3339 time).
func matcher(query url.Values) (func(*Delivery) bool, error) {
	pattern := webhook.Any
	if text := query.Get("event"); text != "" {
		var err error
		if pattern, err = webhook.ParseEventPattern(text); err != nil {
			return nil, fmt.Errorf("event: %w", err)
		}
	}
	var afterSeq uint64
	var afterTime time.Time
	if text := query.Get("after"); text != "" {
		var seqErr, timeErr error
		if afterSeq, seqErr = strconv.ParseUint(text, 10, 64); seqErr != nil {
			if afterTime, timeErr = time.Parse(time.RFC3339, text); timeErr != nil {
				return nil, fmt.Errorf("after %q must be the seq of a delivery or an RFC 3339 time with its + escaped", text)
			}
		}
	}
	dataID := query.Get("dataId")
	return func(d *Delivery) bool {
		return d.Seq > afterSeq && (afterTime.IsZero() || d.ReceivedAt.After(afterTime)) &&
			(dataID == "" || d.DataID == dataID) && pattern.Match(d.Event)
	}, nil
}

// waitTimeout parses a duration such as 5s, or a number of seconds.
func waitTimeout(text string) (time.Duration, error) {
	if text == "" {
		return defaultWait, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		d, err = time.ParseDuration(text + "s")
	}
	if err != nil || d < 0 || d > maxWait {
		return 0, fmt.Errorf("timeout %q must be a duration such as 5s, at most %s", text, maxWait)
	}
	return d, nil
}

func (s *Server) setBehaviour(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeError(w, http.StatusBadRequest, fmt.Errorf("read body: %w", err))
		return
	}
	b, err := ParseBehaviour(string(text))
	if err == nil {
		err = s.SetBehaviour(r.PathValue("name"), b)
	}
	done(w, err)
}

func (s *Server) clearBehaviour(w http.ResponseWriter, r *http.Request) {
	done(w, s.SetBehaviour(r.PathValue("name"), Behaviour{Mode: ModeOK}))
}

func (s *Server) setSecret(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Secret *string `json:"secret"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in)
	if err != nil || in.Secret == nil {
		writeError(w, http.StatusBadRequest, errors.New(`the body must be {"secret": "whsec_…"}, or {"secret": ""} to stop checking signatures`))
		return
	}
	done(w, s.SetSecret(r.PathValue("name"), *in.Secret))
}

// setPromises records which events must arrive.
func (s *Server) setPromises(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Event     string              `json:"event"`
		Receivers map[string][]string `json:"receivers"`
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		writeError(w, http.StatusBadRequest, fmt.Errorf(`the body must be {"event": "order.created", "receivers": {"<name>": ["<data.id>", …]}}: %w`, err))
		return
	}
	var errs []error
	for name, ids := range in.Receivers {
		errs = append(errs, s.Promise(name, in.Event, ids))
	}
	done(w, errors.Join(errs...))
}

func (s *Server) clearLatency(w http.ResponseWriter, r *http.Request) {
	if in, ok := s.requestInbox(w, r); ok {
		in.forgetLatency()
		done(w, nil)
	}
}

// forgetAll requires a prefix, so that a mistake does not remove every receiver.
func (s *Server) forgetAll(w http.ResponseWriter, r *http.Request) {
	prefix := r.URL.Query().Get("prefix")
	if prefix == "" {
		writeError(w, http.StatusBadRequest, errors.New("the query must name a prefix of the receivers' names, such as prefix=load-"))
		return
	}
	s.Forget(prefix)
	done(w, nil)
}

func (s *Server) reset(w http.ResponseWriter, r *http.Request) {
	if in, ok := s.requestInbox(w, r); ok {
		in.reset(s.cfg.Behaviour)
		done(w, nil)
	}
}

// showBody sets the JSON form of the stored body.
func (d *Delivery) showBody() {
	switch {
	case d.raw == nil:
	case json.Valid(d.raw):
		d.Body = d.raw
	default:
		d.Body, _ = json.Marshal(string(d.raw)) // marshalling a string cannot fail
	}
}

func done(w http.ResponseWriter, err error) {
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func writeError(w http.ResponseWriter, status int, err error) {
	writeJSON(w, status, map[string]string{"error": err.Error()})
}

// writeJSON writes a JSON response; it ignores errors, because the client may have disconnected.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
