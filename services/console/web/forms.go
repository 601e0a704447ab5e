package web

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// PathID is an id in the path; what is none leads nowhere.
func (q *Request) PathID(name string) (uuid.UUID, error) {
	id, err := uuid.Parse(q.HTTP.PathValue(name))
	if err != nil {
		return id, errNoPage
	}
	return id, nil
}

// FormID is an id in the form or in the query; nil if there is none.
func (q *Request) FormID(name string) (*uuid.UUID, error) {
	text := q.Form.Get(name)
	if text == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, errNoPage
	}
	return &id, nil
}

// FormVersion is the version of the record that the form is about; 0 = any.
func (q *Request) FormVersion() int64 {
	v, err := strconv.ParseInt(q.Form.Get("version"), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// Expecting is the caller of a change, which is refused if the record has another version than the form is about.
func (q *Request) Expecting() access.Caller {
	if v := q.FormVersion(); v != 0 {
		return q.Caller.Expecting(v)
	}
	return q.Caller
}

// Versioned are the hidden fields of a form about a record, which has the version now. A form that is shown again stays about the
// version that it was about.
func (q *Request) Versioned(now int64) map[string]string {
	return map[string]string{"version": strconv.FormatInt(cmp.Or(q.FormVersion(), now), 10)}
}

// TimeField is a time as a field of a form shows it.
func (q *Request) TimeField(name, label string, at time.Time) Field {
	f := Field{Name: name, Label: label, Type: "datetime-local"}
	if !at.IsZero() {
		f.Value = at.In(q.Zone).Format(localTime)
	}
	return f
}

// Refused reports whether an error is one of the API's that a person can do something about, so that a form shows it.
func Refused(err error) bool {
	known, ok := apierr.As(err)
	return ok && known.Status < 500
}

// Fault is the first thing that the API says is wrong; "" for other errors.
func (q *Request) Fault(err error) string {
	known, ok := apierr.As(err)
	switch {
	case !ok:
		return ""
	case len(known.Fields) > 0:
		return q.Label(known.Fields[0].Field) + ": " + q.FaultText(known.Fields[0])
	}
	return q.Why(known)
}

// FormFault is what an error says that none of the fields shows.
func (q *Request) FormFault(err error, fields []Field) string {
	known, ok := apierr.As(err)
	switch {
	case changedMeanwhile(err):
		return q.T("form.changed")
	case !ok || Faulty(fields):
		return ""
	}
	text := q.Why(known)
	for _, f := range known.Fields {
		text += " " + q.Label(f.Field) + ": " + q.FaultText(f)
	}
	return text
}

// Choice is a field with few values.
func Choice(name, label, value string, options ...Option) Field {
	for i := range options {
		options[i].Selected = options[i].Value == value
	}
	return Field{Name: name, Label: label, Type: typeSelect, Options: options}
}

// Boxes is a field with few values of which several may be chosen.
func Boxes(name, label string, chosen []string, options ...Option) Field {
	return Field{Name: name, Label: label, Value: strings.Join(chosen, "\n")}.checks(options)
}

// Any is a choice of one of the values, or none; text names a value.
func (q *Request) Any(name, label, value string, values []string, text func(value string) string) Field {
	options := []Option{{Text: q.T("filter.any")}}
	for _, v := range values {
		options = append(options, Option{Value: v, Text: text(v)})
	}
	return Choice(name, label, value, options...)
}

// The fields by which people prove who they are, on the pages of sign-in and of the own account.

// CurrentPassword asks for the password of who is signed in, before a change of credentials.
func CurrentPassword(q *Request, name, fault string) Field {
	return Field{Name: name, Label: q.T("account.password.current"), Type: "password", Autocomplete: "current-password", Required: true, Fault: fault}
}

// NewPassword asks for another password.
func NewPassword(q *Request, fault string) Field {
	return Field{
		Name: "password", Label: q.T("link.password"), Type: "password", Autocomplete: "new-password", Required: true, Help: q.T("link.password.help"), Fault: fault,
	}
}

// OneTimeCode asks for a code of the second factor.
func OneTimeCode(q *Request, help, fault string) Field {
	return Field{Name: "code", Label: q.T("signin.code"), Autocomplete: "one-time-code", Required: true, Focus: true, Help: help, Fault: fault}
}
