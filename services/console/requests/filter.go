package requests

import (
	"cmp"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// filterNames are the parameters of GET /requests that pages take, under their own names, so that an address of one is like one of
// the other.
var filterNames = []string{"answer", "method", "code", "tokenId", "operation", "entityId", "requestId", "address", "status", "dateFrom", "dateTo"}

// filters are the values that an address has of them.
type filters map[string]string

func filtersIn(q *web.Request) filters {
	in := filters{}
	for _, name := range filterNames {
		in[name] = strings.TrimSpace(q.Form.Get(name))
	}
	in["cursor"] = q.Form.Get("cursor")
	return in
}

func (in filters) any() bool {
	for name, value := range in {
		if value != "" && name != "cursor" {
			return true
		}
	}
	return false
}

// values are the parameters that are set.
func (in filters) values(cursor string) url.Values {
	v := url.Values{}
	for _, name := range filterNames {
		if in[name] != "" {
			v.Set(name, in[name])
		}
	}
	if cursor != "" {
		v.Set("cursor", cursor)
	}
	return v
}

// address is a page with the filters.
func (in filters) address(q *web.Request, path, cursor string) string {
	if v := in.values(cursor); len(v) > 0 {
		return q.Path(path) + "?" + v.Encode()
	}
	return q.Path(path)
}

// query is what the filters select in a period. Values that cannot be are faults of their fields.
func (in filters) query(period web.Period) (requests.Query, error) {
	var faults apierr.Fields
	query := requests.Query{
		Cursor: in["cursor"], PageLimit: list.PageLimit{Limit: 50}, Answer: in["answer"], Code: in["code"], Method: in["method"], Operation: in["operation"],
		Address: in["address"], RequestID: in["requestId"],
	}
	for name, to := range map[string]**uuid.UUID{"tokenId": &query.TokenID, "entityId": &query.EntityID} {
		if in[name] == "" {
			continue
		}
		id, err := uuid.Parse(in[name])
		if err != nil {
			faults.Add(name, apierr.Format, "must be an id such as 0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55")
		}
		*to = &id
	}
	if in["status"] != "" {
		n, err := strconv.ParseInt(in["status"], 10, 32)
		if err != nil {
			faults.Add("status", apierr.Format, "must be a number such as 409")
		}
		status := int32(n)
		query.Status = &status
	}
	if !period.From.IsZero() {
		from := list.From(period.From)
		query.DateFrom = &from
	}
	if !period.To.IsZero() {
		to := list.To(period.To)
		query.DateTo = &to
	}
	return query, faults.Err()
}

// names are what people call the values of filters that are ids.
type names struct {
	tokens []company.Token
	record string
}

// form is the filters as fields. Those that are rare stand there only when they are set.
func (in filters) form(q *web.Request, path string, period web.Period, with names, err error) web.Filter {
	f := web.Filter{Action: q.Path(path), Button: q.T("filter.apply")}
	if in.any() {
		f.Clear = q.Path(path)
	}
	answers := []string{"2xx", "3xx", "4xx", "5xx", "error"}
	if path != "/requests" {
		answers = []string{"4xx", "5xx"}
	}
	f.Fields = append(f.Fields, choice(q, "answer", in["answer"], answers, func(v string) string { return q.T("answer." + v) }))
	f.Fields = append(f.Fields, choice(q, "method", in["method"], []string{"GET", "POST", "PUT", "PATCH", "DELETE"}, func(v string) string { return v }))
	names := map[string]string{}
	var ids []string
	for _, t := range with.tokens {
		names[t.ID.String()], ids = t.Name, append(ids, t.ID.String())
	}
	if id := in["tokenId"]; id != "" && names[id] == "" { // there is none
		names[id], ids = id, append(ids, id)
	}
	f.Fields = append(f.Fields, choice(q, "tokenId", in["tokenId"], ids, func(v string) string { return names[v] }))
	f.Fields = append(f.Fields,
		web.Field{Name: "code", Label: q.T("requests.filter.code"), Value: in["code"], Autocomplete: "off"},
		web.Field{Name: "entityId", Label: q.T("requests.filter.entityId"), Value: in["entityId"], Pick: &web.Picker{Address: q.Path(web.AnyRecord), Hint: q.T("pick.hint.any"), Text: with.record}})
	for _, name := range []string{"operation", "requestId", "address", "status"} {
		if in[name] != "" {
			f.Fields = append(f.Fields, web.Field{Name: name, Label: q.T("requests.filter." + name), Value: in[name], Autocomplete: "off"})
		}
	}
	f.Fields = append(f.Fields, q.PeriodFields(period)...)
	for i, field := range f.Fields {
		f.Fields[i].Fault = cmp.Or(field.Fault, q.FaultOf(err, field.Name))
	}
	f.Ranges = q.PeriodRanges(period, func(from, to string) string {
		return in.with(map[string]string{"dateFrom": from, "dateTo": to}).address(q, path, "")
	})
	return f
}

func choice(q *web.Request, name, value string, values []string, word func(string) string) web.Field {
	f := web.Field{Name: name, Label: q.T("requests.filter." + name), Type: "select", Options: []web.Option{{Text: q.T("filter.any")}}}
	for _, v := range values {
		f.Options = append(f.Options, web.Option{Value: v, Text: word(v), Selected: v == value})
	}
	return f
}

// with are the filters with others.
func (in filters) with(pairs map[string]string) filters {
	out := maps.Clone(in)
	maps.Copy(out, pairs)
	out["cursor"] = ""
	return out
}
