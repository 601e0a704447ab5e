package records

import (
	"cmp"
	"context"
	"net/url"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// directories are those that a request has read: each of them once.
type directories struct {
	q    *web.Request
	read map[string][]resources.Record // by operation

	tokens map[string]string // names by technical user; nil = they are not read
}

// maxEntries is how many entries of a directory are read. One with more is no choice, but a field for an id.
const maxEntries = 200

// entries returns the entries of a directory. One that the person may not see has none.
func (d *directories) entries(ctx context.Context, of resources.Choices) ([]resources.Record, error) {
	all, ok := d.read[of.List]
	if !ok {
		var err error
		if all, err = d.fetch(ctx, of); err != nil {
			return nil, err
		}
		if d.read == nil {
			d.read = map[string][]resources.Record{}
		}
		d.read[of.List] = all
	}
	if of.Within == "" {
		return all, nil
	}
	var inner []resources.Record
	for _, r := range all {
		inner = append(inner, r.Records(of.Within)...)
	}
	return inner, nil
}

func (d *directories) fetch(ctx context.Context, of resources.Choices) (all []resources.Record, err error) {
	in := web.Input{}
	if of.Paged {
		in.Query = url.Values{"pageSize": {"200"}, "sort": {"name"}}
	}
	raw, err := web.Call[web.JSON](ctx, d.q, of.List, in)
	if known, ok := apierr.As(err); ok && known.Status < 500 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !of.Paged {
		return all, decode(raw, &all)
	}
	var page struct {
		Items []resources.Record `json:"items"`
	}
	err = decode(raw, &page)
	return page.Items, err
}

// name is what the directory calls the entry that a field names; "" = it is not known.
func (d *directories) name(ctx context.Context, field, id string) (string, error) {
	of, ok := resources.ChoicesOf(field)
	if !ok || id == "" {
		return "", nil
	}
	all, err := d.entries(ctx, of)
	for _, r := range all {
		if of.Of(r) == id {
			return d.text(of, r), err
		}
	}
	if err == nil && of.List == "listUsers" {
		return d.token(ctx, id)
	}
	return "", err
}

// token is the name of the token that a technical user belongs to, also of a revoked one; "" = there is none, or the person may see none.
func (d *directories) token(ctx context.Context, actor string) (string, error) {
	if !d.q.Sees(web.Tokens) {
		return "", nil
	}
	if d.tokens == nil {
		all, err := web.CallAdmin[[]company.Token](ctx, d.q, "listTokens", web.Input{Query: url.Values{"includeRevoked": {"true"}}})
		if err != nil {
			return "", err
		}
		d.tokens = make(map[string]string, len(all))
		for _, t := range all {
			d.tokens[t.ActorID.String()] = d.q.T("events.actor.token", t.Name)
		}
	}
	return d.tokens[actor], nil
}

// text is what people call an entry.
func (d *directories) text(of resources.Choices, r resources.Record) string {
	if of.ByCode && r["companyId"] == nil {
		return d.q.Word(r.Text("code"))
	}
	return cmp.Or(r.Text(of.Name), of.Of(r))
}

// options are the choices of a field; nil = people have to type an id.
func (d *directories) options(ctx context.Context, field, current string, keep func(resources.Record) bool) ([]web.Option, error) {
	of, ok := resources.ChoicesOf(field)
	if !ok {
		return nil, nil
	}
	all, err := d.entries(ctx, of)
	if err != nil || len(all) == 0 || len(all) >= maxEntries {
		return nil, err
	}
	var out []web.Option
	found := current == "" || !of.ByCode // sales and leads have channels that are in no directory
	for _, r := range all {
		gone := r["isActive"] != nil && r.Text("isActive") == "false"
		if id := of.Of(r); id == current || !gone && (keep == nil || keep(r)) {
			out = append(out, web.Option{Value: id, Text: d.text(of, r), Selected: id == current})
			found = found || id == current
		}
	}
	if !found {
		out = append(out, web.Option{Value: current, Text: current, Selected: true})
	}
	return out, nil
}

// pick lets people find the record whose id a field takes, if they may see its list. A record that the field has takes a call.
func pick(ctx context.Context, q *web.Request, f *web.Field) error {
	res, ok := resources.Picked(f.Name)
	if !ok || f.Type != "" || !q.Sees(res.Area) || !q.MayCall(res.List) {
		return nil
	}
	f.Help, f.MaxLength = "", nil
	f.Pick = &web.Picker{Address: q.Path("/find/suggest?of=" + res.Name), Hint: q.T("pick.hint." + res.Name)}
	id := idOr(f.Value)
	if id == "" {
		f.Pick.Text = f.Value
		return nil
	}
	var err error
	f.Pick.Text, err = recordName(ctx, q, res, id)
	return err
}
