package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// Versioned is a record with an ETag.
type Versioned interface {
	// RecordVersion is the version used as the ETag.
	RecordVersion() int64
}

// Identified is a record whose URL is returned in Location when it is created.
type Identified interface {
	// RecordID is the last segment of the record's URL.
	RecordID() string
}

// Hideable is a record that stays when it is deleted. Who upserts it is told that it is still hidden.
type Hideable interface{ IsHidden() bool }

// Annotated is a body that adds headers to its response.
type Annotated interface {
	ResponseHeaders() map[string]string
}

// Sized is a body that knows about how many bytes it takes before it is encoded.
type Sized interface {
	// Bytes is about how many bytes the body takes.
	Bytes() int
}

// response is a response before it is written; it is also what idempotent replays store.
type response struct {
	status   int
	headers  map[string]string
	body     []byte
	value    any   // what body is made of; nil if only that is known
	file     *File // instead of body
	replayed bool
}

// respond encodes the reply. It reserves the memory of a large response; one to a change is not refused any more.
func (r *request) respond(ctx context.Context, got reply) (*response, error) {
	if v, ok := got.body.(Sized); ok && !r.op.Mutating() {
		if err := r.reserved.Reserve(ctx, v.Bytes(), true); err != nil {
			return nil, err
		}
	}
	if f, ok := got.body.(File); ok {
		return r.fileResponse(ctx, &f)
	}
	resp, err := r.call.response(got)
	if err != nil || r.op.Mutating() {
		return resp, err
	}
	return resp, r.reserved.Reserve(ctx, len(resp.body), true)
}

// fileResponse reserves the memory that a file takes, and opens it.
func (r *request) fileResponse(ctx context.Context, f *File) (resp *response, err error) {
	resp = &response{status: r.op.Status, headers: f.Headers, file: f}
	if f.Open != nil && r.has(resp) {
		return resp, nil
	}
	if err = r.reserved.Reserve(ctx, f.Memory, false); err != nil {
		if f.Body != nil {
			err = errors.Join(err, f.Body.Close())
		}
		return nil, err
	}
	switch {
	case f.Open == nil:
	case r.headersOnly:
		f.Body = unsent{bytes.NewReader(nil)}
	default:
		f.Body, err = f.Open()
	}
	return resp, err
}

// has reports whether the client has the response already.
func (r *request) has(resp *response) bool {
	return !r.op.Mutating() && transport.Matches(r.header(fiber.HeaderIfNoneMatch), resp.headers[fiber.HeaderETag])
}

// response encodes a reply, unless it is encoded already.
func (c *Call) response(got reply) (*response, error) {
	resp := &response{status: cmp.Or(got.status, c.op.Status), body: got.raw, value: got.body}
	if resp.status == http.StatusNoContent || c.req.valued && c.claim == nil {
		return resp, nil
	}
	resp.headers = map[string]string{}
	c.recordHeaders(got.body, resp.status, resp.headers)
	if resp.body == nil {
		var err error
		if resp.body, err = encode(got.body); err != nil {
			return nil, fmt.Errorf("encode response: %w", err)
		}
	}
	return resp, nil
}

func encode(body any) ([]byte, error) {
	if v, ok := body.(interface{ Encodable() (any, error) }); ok {
		var err error
		if body, err = v.Encodable(); err != nil {
			return nil, err
		}
	}
	return jsontype.Marshal(body)
}

// recordHeaders sets the ETag and Location headers of a single record.
func (c *Call) recordHeaders(body any, status int, h map[string]string) {
	if v, ok := body.(Versioned); ok {
		h[fiber.HeaderETag] = `"` + strconv.FormatInt(v.RecordVersion(), 10) + `"`
	}
	if a, ok := body.(Annotated); ok {
		maps.Copy(h, a.ResponseHeaders())
	}
	if v, ok := body.(Hideable); ok && c.op.AlsoCreates && v.IsHidden() {
		h[headerHidden] = "true"
	}
	if id, ok := body.(Identified); ok && status == http.StatusCreated && !c.op.NoURL {
		h[fiber.HeaderLocation] = c.op.base + c.recordsPath() + "/" + id.RecordID()
	}
}

// recordsPath is the path below which a record that was just created is read.
func (c *Call) recordsPath() string {
	path := cmp.Or(c.op.Records, c.op.Path)
	if c.Principal != nil {
		path = strings.Replace(path, "{"+companyParam+"}", c.Company.String(), 1)
	}
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			parts[i] = strings.ToLower(c.req.Param("path", strings.TrimSuffix(name, "}")))
		}
	}
	return strings.Join(parts, "/")
}

// File is the body of an operation that returns something else than JSON, such as the result of an export. It is sent
// while it is read, so that it needs little memory. It is never stored for replays.
type File struct {
	Media  string // media type
	Name   string // under which browsers save it
	Size   int64  // bytes
	Memory int    // bytes that reading it holds
	Inline bool   // browsers show it, instead of saving it
	Body   io.ReadCloser

	Headers map[string]string // besides those of all responses

	// Open opens Body, unless the client has the file already, by its ETag.
	Open func() (io.ReadCloser, error)
}

// unsent is the body of a response to HEAD.
type unsent struct{ io.Reader }

// Close implements [io.Closer].
func (unsent) Close() error { return nil }

// fileContent describes the body of an operation that returns a [File].
func fileContent(media []string) map[string]*huma.MediaType {
	content := map[string]*huma.MediaType{}
	for _, name := range media {
		content[name] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	return content
}
