package httpapi

import (
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// Headers of responses.
const (
	headerIgnored       = "X-Ignored-Fields"
	headerHidden        = "X-Record-Hidden"
	headerRateLimit     = "X-RateLimit-Limit"
	headerRateRemaining = "X-RateLimit-Remaining"
	headerRateCost      = "X-RateLimit-Cost"
	headerRateReset     = "X-RateLimit-Reset"
	headerQuotaPolicy   = "RateLimit-Policy"
	headerQuota         = "RateLimit"
)

// responseHeader describes a header that several operations have.
type responseHeader struct {
	doc     string
	typ     string // of its value; "" = string
	example any
	always  bool // on each response that it is described for
}

// responseHeaders are all that responses have, besides those that say how the body is encoded, and those of a single operation; see
// [Header]. A test compares what operations send.
var responseHeaders = map[string]responseHeader{ //nolint:gochecknoglobals // a constant
	transport.HeaderRequestID:      {doc: "names the request in logs and traces: the `X-Request-Id` of the request, or a new one", example: "0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55", always: true},
	transport.HeaderRelease:        {doc: "the release of the server", example: "0.1.0", always: true},
	fiber.HeaderETag:               {doc: "the version of the record in quotes, for `If-Match` and `If-None-Match`; a number follows where the response shows more than the record", example: `"3"`, always: true},
	fiber.HeaderLocation:           {doc: "path of the record that was created", example: BasePath + "/orders/0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55", always: true},
	fiber.HeaderContentDisposition: {doc: "the name under which the file is saved", example: `attachment; filename="orders.csv"`, always: true},
	fiber.HeaderRetryAfter:         {doc: "seconds to wait before the request is repeated", typ: huma.TypeInteger, example: 2},
	fiber.HeaderWWWAuthenticate:    {doc: "what is wrong with the token", example: `Bearer error="invalid_token"`},
	fiber.HeaderAcceptEncoding:     {doc: "sent if the body was compressed: `identity`", example: "identity"},
	idempotency.HeaderReplayed:     {doc: "`true` if the response is the stored one of an earlier request with the same `X-Idempotency-Key`", example: "true"},
	list.HeaderWatermark:           {doc: "the value of `updatedSince` for the next run; sent if the request had one", example: "2026-11-20T09:30:00.000Z"},
	headerDeprecation:              {doc: "since when the operation, or a part of it, is deprecated: `@` and seconds since 1970", example: "@1801353600", always: true},
	headerSunset:                   {doc: "until when what is deprecated works", example: "Mon, 31 Jan 2028 00:00:00 GMT", always: true},
	fiber.HeaderLink:               {doc: "the page on deprecation", example: "<" + BasePath + `/docs/reference/deprecation.md>; rel="deprecation"; type="text/html"`, always: true},
	headerIgnored:                  {doc: "names of parameters and fields that the request had and the operation does not know, separated by commas", example: "colour, items[0].size"},
	headerHidden:                   {doc: "`true` if the record is hidden; send `status` `active` to show it again", example: "true"},
	headerRateLimit:                {doc: "units that may be spent at once; like all of its kind only for tokens with a rate limit", typ: huma.TypeInteger, example: 120},
	headerRateRemaining:            {doc: "units that are left now", typ: huma.TypeInteger, example: 119},
	headerRateCost:                 {doc: "units that the request has cost", typ: huma.TypeInteger, example: 1},
	headerRateReset:                {doc: "seconds until all units are back", typ: huma.TypeInteger, example: 1},
	headerQuotaPolicy:              {doc: "the steady rate, as units (q) in a window of seconds (w)", example: `"default";q=1200;w=60`},
	headerQuota:                    {doc: "units that are left (r), and seconds until all are back (t)", example: `"default";r=119;t=1`},
}

// Sets of headers.
var (
	headersOfAll     = []string{transport.HeaderRequestID, transport.HeaderRelease}                                                                                                             //nolint:gochecknoglobals // a constant
	headersOfLimits  = []string{headerRateLimit, headerRateRemaining, headerRateCost, headerRateReset, headerQuotaPolicy, headerQuota}                                                          //nolint:gochecknoglobals // a constant
	headersOfRefusal = map[int]string{401: fiber.HeaderWWWAuthenticate, 409: fiber.HeaderRetryAfter, 415: fiber.HeaderAcceptEncoding, 429: fiber.HeaderRetryAfter, 503: fiber.HeaderRetryAfter} //nolint:gochecknoglobals // a constant
)

// Header describes a header that successful responses of this operation have, and those of no other.
func Header(name, doc string) Edit {
	return func(op *Op) {
		if op.Headers == nil {
			op.Headers = map[string]string{}
		}
		op.Headers[name] = doc
	}
}

// headers describes headers of responses, as references to shared parts of the description.
func (a *API) headers(names ...string) map[string]*huma.Header {
	all := map[string]*huma.Header{}
	for _, name := range names {
		h := responseHeaders[name]
		if a.desc.Components.Headers[name] == nil {
			schema := &huma.Schema{Type: huma.TypeString}
			if h.typ != "" {
				schema.Type = h.typ
			}
			a.desc.Components.Headers[name] = &huma.Header{Description: h.doc, Required: h.always, Schema: schema, Example: h.example}
		}
		all[name] = &huma.Header{Ref: "#/components/headers/" + name}
	}
	return all
}

// authenticatedHeaders are those of all responses to requests that a token was found for.
func (a *API) authenticatedHeaders() []string {
	names := append([]string{headerIgnored}, headersOfAll...)
	if a.cfg.Admin == nil {
		names = append(names, headersOfLimits...)
	}
	return names
}

// successHeaders describes the headers of a successful response with a body of this type.
func (a *API) successHeaders(op Op, status int, body reflect.Type, params []*huma.Param) map[string]*huma.Header {
	names := a.authenticatedHeaders()
	if op.Mutating() {
		names = append(names, idempotency.HeaderReplayed)
	}
	for name, sent := range map[string]bool{
		fiber.HeaderETag:               body.Implements(reflect.TypeFor[Versioned]()),
		fiber.HeaderLocation:           body.Implements(reflect.TypeFor[Identified]()) && status == http.StatusCreated && !op.NoURL,
		fiber.HeaderContentDisposition: body == reflect.TypeFor[File](),
		headerHidden:                   body.Implements(reflect.TypeFor[Hideable]()) && op.AlsoCreates,
		list.HeaderWatermark:           hasParam(params, list.SinceParam),
	} {
		if sent {
			names = append(names, name)
		}
	}
	all := a.headers(names...)
	for name, doc := range op.Headers {
		all[name] = &huma.Header{Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return all
}

func hasParam(params []*huma.Param, name string) bool {
	for _, p := range params {
		if p.Name == name {
			return true
		}
	}
	return false
}

// refusal describes an error of many operations as a shared part of the description, and returns a reference to it.
func (a *API) refusal(status int, meaning string) *huma.Response {
	name := strings.ReplaceAll(http.StatusText(status), " ", "")
	if a.desc.Components.Responses[name] == nil {
		a.desc.Components.Responses[name] = a.refusalOnce(status, meaning)
	}
	return &huma.Response{Ref: responseRef + name}
}

// refusalOnce describes an error.
func (a *API) refusalOnce(status int, meaning string) *huma.Response {
	names := a.authenticatedHeaders()
	if status == http.StatusUnauthorized || status == http.StatusRequestHeaderFieldsTooLarge { // before the token was known
		names = headersOfAll
	}
	if own := headersOfRefusal[status]; own != "" {
		names = append(names[:len(names):len(names)], own)
	}
	schema := a.desc.Components.Schemas.Schema(transport.ErrorType(status), true, "")
	return &huma.Response{Description: meaning, Headers: a.headers(names...), Content: map[string]*huma.MediaType{fiber.MIMEApplicationJSON: {Schema: schema}}}
}

const responseRef = "#/components/responses/"

// own returns the response of an operation to a status as one that can be changed: not a shared one. nil = it is not described.
func (a *API) own(op *huma.Operation, status int) *huma.Response {
	name := strconv.Itoa(status)
	res := op.Responses[name]
	if res == nil || res.Ref == "" {
		return res
	}
	shared := a.desc.Components.Responses[strings.TrimPrefix(res.Ref, responseRef)]
	op.Responses[name] = &huma.Response{Description: shared.Description, Headers: maps.Clone(shared.Headers), Content: shared.Content}
	return op.Responses[name]
}
