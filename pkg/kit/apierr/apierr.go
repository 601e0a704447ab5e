// Package apierr holds the errors that are returned to API clients: a status, a stable code, a message that says what to
// do, and for invalid input one entry per field. Every other error is internal and is not shown to clients.
package apierr

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Codes of single faults in a 400 response; see docs/reference/errors.md#validation-errors.
const (
	Required = "REQUIRED"
	Type     = "TYPE"
	Format   = "FORMAT"
	Min      = "MIN"
	Max      = "MAX"
	Step     = "STEP"
	Length   = "LENGTH"
	Enum     = "ENUM"
	Unknown  = "UNKNOWN"
	Conflict = "CONFLICT"
)

// Error is the content of an error response of the API.
type Error struct {
	Status     int            // HTTP status
	Code       string         // stable machine code, such as ORDER_NOT_FOUND
	Message    string         // English, for developers
	Fields     []Field        // only for 400, in the order of the input
	Meta       map[string]any // details by code, such as {"allowed": [...]}
	RetryAfter int            // seconds; 0 = no Retry-After header
}

// Field is one error of the input.
type Field struct {
	Field   string `json:"field"`   // JSON path such as items[2].qty
	Code    string `json:"code"`    // one of the codes above
	Message string `json:"message"` // the rule and what to do

	Rule string `json:"-"` // format of the message without the field, for pages that say it in another language
	Args []any  `json:"-"` // of Rule
}

// SchemaName implements [jsontype.Named].
func (Field) SchemaName() string { return "ErrorField" }

// Error implements error.
func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Code + ": " + e.Message
	}
	texts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		texts[i] = f.Message
	}
	return e.Code + ": " + strings.Join(texts, "; ")
}

// With returns a copy of the error with an additional entry in Meta.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Meta = make(map[string]any, len(e.Meta)+1)
	for k, v := range e.Meta {
		c.Meta[k] = v
	}
	c.Meta[key] = value
	return &c
}

// New returns an error with any status.
func New(status int, code, message string) *Error {
	return &Error{Status: status, Code: code, Message: message}
}

// StateConflict returns a 409: the request is valid, but the state of a record does not allow it.
func StateConflict(code, format string, args ...any) *Error {
	return New(http.StatusConflict, code, fmt.Sprintf(format, args...))
}

// NotFound returns a 404 for a record of the company; entity is upper case, such as ORDER.
func NotFound(entity, id string) *Error {
	name := strings.ToLower(strings.ReplaceAll(entity, "_", " "))
	return New(http.StatusNotFound, entity+"_NOT_FOUND", fmt.Sprintf("no %s with id %s in this company", name, id))
}

// ReferenceNotFound returns a 404 for a record that a field of the body refers to, with field and id in Meta.
func ReferenceNotFound(entity, field, id string) *Error {
	e := NotFound(entity, id)
	e.Message = field + ": " + e.Message
	e.Meta = map[string]any{"field": field, "id": id}
	return e
}

// Invalid returns a 400 with all faults of the input.
func Invalid(fields ...Field) *Error {
	return &Error{Status: http.StatusBadRequest, Code: "VALIDATION_ERROR", Message: "the request is invalid", Fields: fields}
}

// InvalidField returns a 400 with a single fault. The message is prefixed with the field.
func InvalidField(field, code, format string, args ...any) *Error {
	var f Fields
	f.Add(field, code, format, args...)
	return Invalid(f...)
}

// MaxListed is how many faults a response lists: a short request can break thousands of rules.
const MaxListed = 100

// Fields collects the faults of one input so that they are reported at once: at most one more than a response lists.
type Fields []Field

// Full reports whether there are more faults than a response lists, so that looking for others is of no use.
func (f Fields) Full() bool { return len(f) > MaxListed }

// Add adds an error, unless f is full. The message is prefixed with the field.
func (f *Fields) Add(field, code, format string, args ...any) {
	if f.Full() {
		return
	}
	*f = append(*f, Field{Field: field, Code: code, Message: field + ": " + fmt.Sprintf(format, args...), Rule: format, Args: args})
}

// Err returns the 400 with all faults, or nil if there are none.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	return Invalid(f...)
}

// As returns the Error in the chain of err, if there is one.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// Is reports whether the chain of err contains an Error with the code.
func Is(err error, code string) bool {
	e, ok := As(err)
	return ok && e.Code == code
}

// Doc documents an error code.
type Doc struct {
	Status int
	Code   string
	Advice string // what the code means and what to do
}

// maxName bounds the names that are compared, because a client may send a long one.
const maxName = 64

// Nearest returns the name that was probably meant by an unknown one: the most similar, ignoring case. It returns "" if none is
// similar: at most one letter in three may differ.
func Nearest(unknown string, names []string) string {
	if len(unknown) > maxName {
		return ""
	}
	best, least := "", 1+len(unknown)/3
	for _, n := range names {
		if d := levenshtein.ComputeDistance(strings.ToLower(unknown), strings.ToLower(n)); d <= least && (best == "" || d < least) {
			best, least = n, d
		}
	}
	return best
}
