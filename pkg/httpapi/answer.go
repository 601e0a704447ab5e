package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/list"
)

// Versioned is a record with an ETag.
type Versioned interface {
	// RecordVersion is the version that the ETag shows.
	RecordVersion() int64
}

// Identified is a record that has an address of its own after it was created.
type Identified interface {
	// RecordID is the last segment of the address.
	RecordID() string
}

// Paged answers with a page of a list, or with the error of reading it.
func Paged[T any](page *list.Page[T], err error) (*Reply[*list.Page[T]], error) {
	if err != nil {
		return nil, err
	}
	return &Reply[*list.Page[T]]{Body: page, Headers: page.Headers()}, nil
}

// answer is a response before it is written: what is stored for a repeat, too.
type answer struct {
	status   int
	headers  map[string]string
	body     []byte
	replayed bool
}

func newAnswer[T any](op Op, reply *Reply[T]) (*answer, error) {
	ans := &answer{status: op.Status, headers: reply.Headers, body: reply.raw}
	if op.Status == http.StatusNoContent {
		return ans, nil
	}
	if ans.headers == nil {
		ans.headers = map[string]string{}
	}
	recordHeaders(op, any(reply.Body), ans.headers)
	if ans.body == nil {
		var err error
		if ans.body, err = marshal(reply.Body); err != nil {
			return nil, err
		}
	}
	return ans, nil
}

// recordHeaders are ETag and Location of a single record.
func recordHeaders(op Op, body any, h map[string]string) {
	if v, ok := body.(Versioned); ok {
		h[fiber.HeaderETag] = `"` + strconv.FormatInt(v.RecordVersion(), 10) + `"`
	}
	if id, ok := body.(Identified); ok && op.Status == http.StatusCreated {
		if !strings.Contains(op.Path, "{") {
			h[fiber.HeaderLocation] = BasePath + op.Path + "/" + id.RecordID()
		}
	}
}

// marshal writes JSON as clients read it: no HTML escapes, no newline at the end.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write answer as JSON: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

func (r *request) write(ans *answer) {
	for name, value := range ans.headers {
		r.fc.Set(name, value)
	}
	if ans.replayed {
		r.fc.Set("X-Idempotent-Replayed", "true")
	}
	if !r.op.Mutating() && matches(r.header(fiber.HeaderIfNoneMatch), ans.headers[fiber.HeaderETag]) {
		r.fc.Status(http.StatusNotModified)
		return
	}
	r.fc.Status(ans.status)
	if ans.status == http.StatusNoContent {
		return
	}
	r.fc.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	send(r.fc, ans.body)
}

// matches compares If-None-Match, a list of ETags or *, with the ETag of the record.
func matches(condition, etag string) bool {
	if condition == "" || etag == "" {
		return false
	}
	for tag := range strings.SplitSeq(condition, ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

const minCompressed = 1 << 10 // bytes; below it compression costs more than it saves

// send writes a body in the best encoding that the client takes.
func send(fc *fiber.Ctx, body []byte) {
	if len(body) > minCompressed {
		fc.Vary(fiber.HeaderAcceptEncoding)
		switch accepted(fc.Get(fiber.HeaderAcceptEncoding)) {
		case "br":
			fc.Set(fiber.HeaderContentEncoding, "br")
			body = fasthttp.AppendBrotliBytesLevel(nil, body, fasthttp.CompressBrotliBestSpeed)
		case "gzip":
			fc.Set(fiber.HeaderContentEncoding, "gzip")
			body = fasthttp.AppendGzipBytesLevel(nil, body, fasthttp.CompressBestSpeed)
		}
	}
	fc.Response().SetBody(body)
}

// accepted picks the encoding that an Accept-Encoding header weighs most, br before gzip, or "" for none.
func accepted(header string) string {
	br, gzip := weight(header, "br"), weight(header, "gzip")
	switch {
	case br > 0 && br >= gzip:
		return "br"
	case gzip > 0:
		return "gzip"
	}
	return ""
}

// weight is the weight, 0 to 1, that a header such as Accept gives to a name; a name that it lacks weighs 0.
func weight(header, name string) float64 {
	for part := range strings.SplitSeq(header, ",") {
		got, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(got), name) {
			continue
		}
		for p := range strings.SplitSeq(params, ";") {
			if text, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(p)), "q="); ok {
				q, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return 0
				}
				return q
			}
		}
		return 1
	}
	return 0
}
