package httpapi

import (
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

// RequestLog keeps requests whose sender is known; see docs/reference/requests.md.
type RequestLog interface {
	// Record is called after each answer and must not wait. paid tells a refusal that the rate limits bound from one by such
	// a limit, or before it. entry describes the request, if it is to be kept.
	Record(by *access.Principal, status int, paid bool, entry func() Served)
}

// Served is a request that has been answered.
type Served struct {
	At        time.Time
	Took      time.Duration
	ID        uuid.UUID // as the platform chose it; the nil UUID if the client chose one
	RequestID string    // of the header X-Request-Id
	Method    string
	Target    string // path and query below the root of the API, as sent
	Op        Op
	Status    int
	Address   netip.Addr
	Entity    uuid.UUID // record that was created or that the path names; the nil UUID if there is none
	Refusal   transport.Refusal
	Body      []byte // as sent, as far as it was read
}

// requestKey finds the request of an operation once it is answered.
type requestKey struct{}

// answered hands a request to the log.
func (a *API) answered(fc *fiber.Ctx, start time.Time, took time.Duration) {
	r, ok := fc.Locals(requestKey{}).(*request)
	if !ok || r.sender == nil || a.cfg.Requests == nil {
		return
	}
	a.cfg.Requests.Record(r.sender, fc.Response().StatusCode(), r.paid > 0, func() Served {
		s := Served{
			At: start, Took: took, RequestID: r.id, Method: fc.Method(), Target: strings.TrimPrefix(fc.OriginalURL(), a.variant.base),
			Op: r.op.Op, Status: fc.Response().StatusCode(), Address: r.address, Entity: r.concerns(fc), Refusal: transport.RefusalOf(fc), Body: r.body.Raw,
		}
		if fc.Get(fiber.HeaderXRequestID) != s.RequestID {
			s.ID, _ = uuid.Parse(s.RequestID)
		}
		return s
	})
}

// concerns is the record that the request created, or else the first that its path names.
func (r *request) concerns(fc *fiber.Ctx) uuid.UUID {
	if fc.Response().StatusCode() == http.StatusCreated {
		at := string(fc.Response().Header.Peek(fiber.HeaderLocation))
		if id, err := uuid.Parse(at[strings.LastIndexByte(at, '/')+1:]); err == nil {
			return id
		}
	}
	_, rest, _ := strings.Cut(r.op.rel, "{")
	name, _, _ := strings.Cut(rest, "}")
	if name == "" {
		return uuid.Nil
	}
	id, _ := uuid.Parse(fc.Params(name))
	return id
}
