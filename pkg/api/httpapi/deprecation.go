package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// Headers of responses of operations of which something is deprecated: RFC 9745, RFC 8594.
const (
	headerDeprecation = "Deprecation"
	headerSunset      = "Sunset"
)

// Deprecation says of an operation that it, or some of its fields, will be removed; see docs/reference/deprecation.md.
type Deprecation struct {
	Since   time.Time // clients should use something else from then on
	Sunset  time.Time // it works until then
	Instead string    // what to use instead
	Fields  []string  // parameters, and fields of the body or the response; none = the whole operation
}

// Deprecated deprecates an operation, or only some of its parameters and fields. Dates are written as 2027-01-31, at least a year apart;
// instead says what to use.
func Deprecated(since, sunset, instead string, fields ...string) Edit {
	d := &Deprecation{Since: day(since), Sunset: day(sunset), Instead: instead, Fields: fields}
	if d.Sunset.Before(d.Since.AddDate(1, 0, 0)) {
		panic("what is deprecated since " + since + " must work for a year")
	}
	return func(op *Op) { op.Deprecation = d }
}

func day(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err) // a constant
	}
	return t
}

// headers are those of every response of the operation.
func (d *Deprecation) headers(base string) map[string]string {
	if d == nil {
		return nil
	}
	return map[string]string{
		headerDeprecation: "@" + strconv.FormatInt(d.Since.Unix(), 10), headerSunset: d.Sunset.Format(http.TimeFormat),
		fiber.HeaderLink: "<" + base + `/docs/reference/deprecation.md>; rel="deprecation"; type="text/html"`,
	}
}

// describeDeprecation says in the description of an operation what of it is deprecated.
func (a *API) describeDeprecation(ho *huma.Operation, d *Deprecation) {
	if d == nil {
		return
	}
	until := d.Sunset.Format(time.DateOnly)
	if ho.Deprecated = len(d.Fields) == 0; ho.Deprecated {
		ho.Description = fmt.Sprintf("Deprecated, and removed after %s: %s. %s", until, d.Instead, ho.Description)
		ho.Extensions["x-sunset"] = until
	}
	for _, name := range d.Fields {
		if !a.deprecateField(ho, name, fmt.Sprintf("deprecated, and removed after %s: %s", until, d.Instead), until) {
			panic(ho.OperationID + " has no parameter or field " + name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ho.Responses)) {
		status, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		maps.Copy(a.own(ho, status).Headers, a.headers(headerDeprecation, headerSunset, fiber.HeaderLink))
	}
}

// deprecateField deprecates what has the name among the parameters of an operation and the fields of its bodies.
func (a *API) deprecateField(ho *huma.Operation, name, doc, until string) (found bool) {
	for _, p := range ho.Parameters {
		if p.Name == name {
			p.Deprecated, p.Description, p.Extensions, found = true, doc, map[string]any{"x-sunset": until}, true
		}
	}
	var contents []map[string]*huma.MediaType
	if ho.RequestBody != nil {
		contents = append(contents, ho.RequestBody.Content)
	}
	if res := ho.Responses[strconv.Itoa(ho.DefaultStatus)]; res != nil {
		contents = append(contents, res.Content)
	}
	for _, content := range contents {
		media := content[fiber.MIMEApplicationJSON]
		if media == nil || media.Schema == nil {
			continue
		}
		s := media.Schema
		if s.Ref != "" {
			s = a.desc.Components.Schemas.SchemaFromRef(s.Ref)
		}
		if p := s.Properties[name]; p != nil {
			p.Deprecated, p.Description, p.Extensions, found = true, doc, map[string]any{"x-sunset": until}, true
		}
	}
	return found
}
