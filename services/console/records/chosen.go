package records

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

const (
	maxChosen  = 1000 // records that are changed at once: as many as a batch takes
	chosenPage = 200  // records of a page that is read for them
	idsPage    = 100  // ids that a list takes as a filter
)

// chosen are the records that a change of many is about.
type chosen struct {
	in    listQuery
	all   bool // all that the list shows, not only those that are ticked
	items []resources.Record
	more  bool // there are more than can be changed at once
}

// choose reads the records that are ticked, or all that the list shows, up to as many as can be changed at once.
func (pages *Pages) choose(ctx context.Context, q *web.Request, res resources.Resource) (c chosen, err error) {
	c = chosen{in: parseListQuery(q, res, parse(q.Form.Get("query"))).with("cursor", ""), all: q.Form.Get("all") != ""}
	query := c.in.forAPI(q)
	query.Set("pageSize", strconv.Itoa(chosenPage))
	if c.all {
		return c, pages.chooseAll(ctx, q, &c, query)
	}
	ids := ticked(q.Form)
	for part := range slices.Chunk(ids, idsPage) {
		query.Set("ids", strings.Join(part, ","))
		found, err := pages.read(ctx, q, res, query)
		if err != nil {
			return c, err
		}
		c.items = append(c.items, found.Items...)
	}
	return c, nil
}

func (pages *Pages) chooseAll(ctx context.Context, q *web.Request, c *chosen, query url.Values) error {
	for len(c.items) < maxChosen {
		found, err := pages.read(ctx, q, c.in.res, query)
		if err != nil {
			return err
		}
		c.items = append(c.items, found.Items...)
		if c.more = found.Next != ""; !c.more {
			return nil
		}
		query.Set("cursor", found.Next)
	}
	c.items = c.items[:maxChosen]
	return nil
}

// ticked are the ids of the rows that are ticked.
func ticked(form url.Values) []string {
	ids := slices.DeleteFunc(slices.Clone(form["id"]), func(id string) bool { return idOr(id) == "" })
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return ids[:min(len(ids), maxChosen)]
}

// hidden are the fields that keep the choice in a form.
func (c chosen) hidden() []hidden {
	keep := []hidden{{"query", c.in.values().Encode()}}
	if c.all {
		return append(keep, hidden{"all", "1"})
	}
	for _, r := range c.items {
		keep = append(keep, hidden{"id", r.Text("id")})
	}
	return keep
}

// ids are those of the first records.
func (c chosen) ids(most int) (ids []string) {
	for _, r := range c.items[:min(len(c.items), most)] {
		ids = append(ids, r.Text("id"))
	}
	return ids
}

// split are the records for which a change is possible, and the others.
func (c chosen) split(b resources.Bulk) (able, others []resources.Record) {
	for _, r := range c.items {
		if b.When == nil || b.When(r) {
			able = append(able, r)
		} else {
			others = append(others, r)
		}
	}
	return able, others
}
