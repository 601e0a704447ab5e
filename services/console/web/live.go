package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

// ChangeSource is what a page shows, as far as its changes concern somebody who looks at it.
type ChangeSource struct {
	Key   string                                    // of the thing; who watches the same key shares one Token
	Token func(ctx context.Context) (string, error) // another text after a change; a cheap read
	Every time.Duration                             // between two reads, for a Token that is not cheap; 0 = a second
}

// read reads the change token. A panic is an error of this one thing, and not the end of the process.
func (w ChangeSource) read(ctx context.Context) (token string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("change token of %s: panic: %v", w.Key, v)
		}
	}()
	return w.Token(ctx)
}

// Watcher checks that the caller may see the thing in the address, as its page does.
type Watcher func(ctx context.Context, q *Request) (ChangeSource, error)

// Live is a stream of server-sent events that says when a page has something new. Its path begins with /live, and its page names it
// by data-live of the element #live; see [Renews].
func Live(area Area, scope, path string, w Watcher) Page {
	return Page{Method: http.MethodGet, Path: path, Area: area, Scope: scope, watch: w}
}

// Renews is where a page hears of changes since it was made: the address of its stream with the token of now. It has to be called
// before what the page shows is read, so that no change is missed.
func Renews(ctx context.Context, address string, w ChangeSource) string {
	token, err := w.Token(ctx)
	if err != nil {
		return address // the stream tells of a change at once
	}
	return With(address, "seen", token)
}

// Sum is a short change token of a text.
func Sum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Limits of streams.
const (
	maxStreams = 500 // in a process
	lookEvery  = time.Second
	beatEvery  = 15 * time.Second
	streamFor  = 5 * time.Minute // then the browser connects again, to whichever process
	retryAfter = 2 * time.Second
)

// live holds the streams of the process.
type live struct {
	mu      sync.Mutex
	watches map[string]*watch
	streams counts // by session, person and company
	most    int
	closed  chan struct{}
	once    sync.Once
}

// watch looks at a thing for all streams that show it.
type watch struct {
	viewers map[chan struct{}]bool
	stop    context.CancelFunc
	token   string
	over    bool // Token said that it is over
}

// errOver ends streams: their session is over, or may no longer see the page.
var errOver = errors.New("over")

// newLive leaves half of the connections, if they are limited, to pages.
func newLive(conns int) *live {
	l := &live{watches: map[string]*watch{}, most: maxStreams, closed: make(chan struct{})}
	if conns > 0 {
		l.most = min(l.most, conns/2)
	}
	return l
}

// close ends all streams, before the process ends.
func (l *live) close() { l.once.Do(func() { close(l.closed) }) }

// enter counts a stream of a session; ok is false if there are too many.
func (l *live) enter(session accounts.Session) (leave func(), ok bool) {
	person, company := personOf(session)
	shares := []share{{"", l.most}, {session.ID.String(), MaxStreamsPerSession}, {person.String(), personStreams}}
	if company != uuid.Nil {
		shares = append(shares, share{company.String(), companyStreams})
	}
	done, ok := l.streams.enter(shares...)
	if !ok {
		return nil, false
	}
	openStreams.Inc()
	return func() {
		done()
		openStreams.Dec()
	}, true
}

// join makes the caller a viewer of a thing. changed gets something when there may be news.
func (l *live) join(w ChangeSource) (changed chan struct{}, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed = make(chan struct{}, 1)
	one, ok := l.watches[w.Key]
	if !ok {
		ctx, stop := context.WithCancel(context.Background())
		one = &watch{viewers: map[chan struct{}]bool{}, stop: stop}
		l.watches[w.Key] = one
		go l.look(ctx, one, w)
	}
	one.viewers[changed] = true
	if one.token != "" || one.over {
		changed <- struct{}{}
	}
	return changed, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if delete(one.viewers, changed); len(one.viewers) == 0 {
			one.stop()
			if l.watches[w.Key] == one {
				delete(l.watches, w.Key)
			}
		}
	}
}

// state is the last token of a thing.
func (l *live) state(key string) (token string, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, ok := l.watches[key]
	if !ok {
		return "", true
	}
	return one.token, one.over
}

// look asks for the token of a thing again and again, as long as somebody watches it.
func (l *live) look(ctx context.Context, one *watch, w ChangeSource) {
	every := max(w.Every, lookEvery)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		within, cancel := context.WithTimeout(ctx, every)
		token, err := w.read(within)
		cancel()
		l.tell(one, token, err)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tell notes a token, and tells viewers if it is another one. What cannot be read now is read the next time.
func (l *live) tell(one *watch, token string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	over := errors.Is(err, errOver)
	if (err != nil && !over) || (token == one.token && over == one.over) {
		return
	}
	one.token, one.over = token, over
	for viewer := range one.viewers {
		select {
		case viewer <- struct{}{}:
		default: // it has not yet looked at the one before
		}
	}
}

// stream answers with server-sent events.
func (a *App) stream(p Page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		q := a.request(r)
		q.counted = true
		ctx, cancel := context.WithTimeout(r.Context(), pageWithin)
		thing, err := a.changeSource(ctx, p, q)
		q.end() // what follows is waiting
		cancel()
		if err != nil {
			answer := a.refuse(r.Context(), q, err) // no event stream: a browser does not come again
			a.write(r.Context(), w, q, p, answer)
			observe(p, answer, began)
			return
		}
		session := sessionKey(q)
		leave, ok := a.live.enter(q.Session)
		if !ok {
			w.Header().Set("Retry-After", "10")
			http.Error(w, q.T("error.streams"), http.StatusServiceUnavailable)
			observe(p, Answer{status: http.StatusServiceUnavailable}, began)
			return
		}
		defer leave()
		observe(p, Answer{status: http.StatusOK}, began)
		a.tellChanges(w, r, thing, ChangeSource{Key: session + " " + p.pattern() + " " + q.Company.ID.String(), Token: a.stillAdmitted(p, r)})
	})
}

func (a *App) changeSource(ctx context.Context, p Page, q *Request) (ChangeSource, error) {
	if err := a.admit(ctx, p, q); err != nil {
		return ChangeSource{}, err
	}
	q.Form = q.HTTP.URL.Query()
	return p.watch(ctx, q)
}

// sessionKey names a session without being of use as one.
func sessionKey(q *Request) string {
	c, err := q.HTTP.Cookie(q.app.sessionCookie())
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(c.Value))
	return hex.EncodeToString(sum[:])
}

// stillAdmitted checks again whether the person may see the page, by the request that began the stream.
func (a *App) stillAdmitted(p Page, r *http.Request) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		err := a.admit(ctx, p, a.request(r.WithContext(ctx)))
		var r refusal
		if errors.Is(err, errAnonymous) || errors.Is(err, errHalf) || errors.As(err, &r) {
			return "", errOver
		}
		return "admitted", err
	}
}

// tellChanges sends what happens until the stream is over.
func (a *App) tellChanges(w http.ResponseWriter, r *http.Request, thing, person ChangeSource) {
	s := &sender{w: w, to: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no") // proxies must pass on what there is
	seen := r.Header.Get("Last-Event-ID")
	if seen == "" {
		seen = r.URL.Query().Get("seen")
	}
	changed, leave := a.live.join(thing) //nolint:contextcheck // who watches it after this stream shares the look
	defer leave()
	checked, leavePerson := a.live.join(person) //nolint:contextcheck // as above
	defer leavePerson()
	beat, end := time.NewTicker(beatEvery), time.NewTimer(streamFor)
	defer beat.Stop()
	defer end.Stop()
	s.send(fmt.Sprintf("retry: %d\nevent: beat\ndata:\n\n", retryAfter.Milliseconds()))
	for s.err == nil {
		select {
		case <-changed:
			token, over := a.live.state(thing.Key)
			if over {
				s.send("event: over\ndata:\n\n")
				return
			}
			if token != seen {
				seen = token
				s.send("id: " + token + "\nevent: changed\ndata:\n\n")
			}
		case <-checked:
			if _, over := a.live.state(person.Key); over {
				s.send("event: over\ndata:\n\n")
				return
			}
		case <-beat.C:
			s.send("event: beat\ndata:\n\n")
		case <-end.C:
			return
		case <-a.live.closed:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// sender writes to a stream, past the deadlines of the server, which are those of pages.
type sender struct {
	w   http.ResponseWriter
	to  *http.ResponseController
	err error
}

func (s *sender) send(text string) {
	s.err = errors.Join(s.to.SetReadDeadline(time.Time{}), s.to.SetWriteDeadline(time.Now().Add(beatEvery)))
	if s.err != nil {
		return
	}
	if _, s.err = s.w.Write([]byte(text)); s.err == nil {
		s.err = s.to.Flush()
	}
}
