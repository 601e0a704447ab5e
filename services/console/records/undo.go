package records

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Parameters of the address of a record to which a command that can be taken back leads.
const (
	didField = "did" // the command
	wasField = "was" // what the record had before in the field that the command sets
)

// did is the address of the record, which says what was done and offers to take it back. after is the record as the command left it.
func did(q *web.Request, s shown, c resources.Command, after resources.Record) string {
	return web.With(s.address(q), didField, c.Name, wasField, s.record.Text(c.Sets), "version", after.Text("version"))
}

// toastOf says what the command in the address did, as long as the record is as the command left it; nil otherwise.
func toastOf(q *web.Request, s shown) *web.Toast {
	asked := q.HTTP.URL.Query()
	c, ok := commandOf(s.res, asked.Get(didField))
	if !ok || c.Undo == "" || asked.Get("version") != s.record.Text("version") {
		return nil
	}
	t := &web.Toast{Text: q.T("records.did." + c.Name)}
	if undo, ok := commandOf(s.res, c.Undo); ok {
		t.Undo = undoOf(q, s, undo, asked.Get(wasField))
	}
	return t
}

// undoOf is the button that gives a command, or that gives the field which it sets the value that it had; nil = the command cannot be
// given now, or is one that asks first, which no address may lead to by a button that says less.
func undoOf(q *web.Request, s shown, c resources.Command, was string) *web.Action {
	if c.Danger || c.When != nil && !c.When(s.record) || !q.MayCall(c.Op) || c.Sets != "" && was == s.record.Text(c.Sets) {
		return nil
	}
	a := web.Action{Text: q.T("records.compose.undo"), Post: s.address(q) + "/do/" + c.Name, Small: true, Values: map[string]string{
		"version": s.record.Text("version"), "key": uuid.NewString(),
	}}
	switch field, sets := settingOf(q, c); {
	case c.Sets == "":
	case c.ForEach != "":
		if !slices.Contains(s.record.Texts(c.ForEach), was) || has(q, "records.confirm."+c.Name+"."+was) {
			return nil
		}
		a.Values["part"] = was
	case !sets, was == "" && !field.Nullable:
		return nil
	default:
		a.Values[field.Name] = was
	}
	return &a
}

// settingOf is the field of the body of a command that has the value which it sets.
func settingOf(q *web.Request, c resources.Command) (field httpapi.Shape, ok bool) {
	body := q.Operation(c.Op).Body
	if body == nil {
		return field, false
	}
	i := slices.IndexFunc(body.Fields, func(f httpapi.Shape) bool { return f.Required })
	if i < 0 {
		return field, false
	}
	return body.Fields[i], true
}

// commandOf is a command of a resource by its name.
func commandOf(res resources.Resource, name string) (c resources.Command, ok bool) {
	i := slices.IndexFunc(res.Commands, func(c resources.Command) bool { return c.Name == name })
	if i < 0 {
		return c, false
	}
	return res.Commands[i], true
}
