package directories

import (
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// byName is the directory with a name.
func byName(name string) (resources.Directory, bool) {
	for _, d := range resources.Directories() {
		if d.Name == name {
			return d, true
		}
	}
	return resources.Directory{}, false
}

// place is where the pages of a directory, or of a part of an entry, are.
type place struct {
	resources.Directory

	of    *resources.Directory // nil = it is no part
	owner string               // id of the entry that the part belongs to
}

// placeOf reads the owner of a part from the address.
func placeOf(q *web.Request, d resources.Directory, of *resources.Directory) place {
	p := place{Directory: d, of: of}
	if of != nil {
		p.owner = q.HTTP.PathValue("id")
	}
	return p
}

// address is the address of the list, or of what follows it.
func (p place) address(q *web.Request, rest string) string {
	if p.of == nil {
		return q.Path("/directories/" + p.Name + rest)
	}
	return q.Path("/directories/" + p.of.Name + "/" + p.owner + "/" + p.Name + rest)
}

// back is where a person goes from an entry: the list, or the entry that a part belongs to.
func (p place) back(q *web.Request) string {
	if p.of == nil {
		return p.address(q, "")
	}
	return q.Path("/directories/" + p.of.Name + "/" + p.owner)
}

// id is that of the entry in the address.
func (p place) id(q *web.Request) string {
	if p.of == nil {
		return q.HTTP.PathValue("id")
	}
	return q.HTTP.PathValue("part")
}

// path has the parameters of an operation on an entry.
func (p place) path(id string) map[string]string {
	if p.Key == "" {
		return map[string]string{"id": id}
	}
	return map[string]string{"id": p.owner, p.Key: id}
}
