package binding

import (
	"github.com/danielgtaylor/huma/v2"
)

// Describe adds the parameters and the body of the operation to its description. The binder does it, and not huma,
// because only the binder has optional parameters as pointers.
func (b *Binder) Describe(ho *huma.Operation) {
	for _, p := range b.params {
		described := &huma.Param{Name: p.name, In: p.in, Description: p.schema.Description, Required: p.in == "path" || p.needed, Schema: p.schema, Explode: b.explode(p)}
		if p.in == "query" && p.schema.Type == huma.TypeObject {
			yes := true
			described.Style, described.Explode = "deepObject", &yes // name[key]=value
		}
		ho.Parameters = append(ho.Parameters, described)
	}
	if b.body != nil {
		ho.RequestBody = &huma.RequestBody{
			Required: !b.bodyOpt,
			Content:  map[string]*huma.MediaType{"application/json": {Schema: b.schema}},
		}
	}
}

// explode documents that a list is sent as one comma-separated parameter, which is shorter than several; both are taken.
func (b *Binder) explode(p param) *bool {
	if p.in != "query" || p.schema.Type != huma.TypeArray {
		return nil
	}
	no := false
	return &no
}
