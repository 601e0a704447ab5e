package web

import (
	"net/url"
	"strings"
)

// PrintMenu leads to documents of records, and has the browser print them. records are named as their list is.
func (q *Request) PrintMenu(records string, documents []string, ids ...string) Menu {
	m := Menu{Text: q.T("paper.menu")}
	for _, name := range documents {
		m.Links = append(m.Links, Link{Text: q.T("paper.doc." + records + "." + name), Href: q.Path("/paper/"+records+"/"+name) + "?ids=" + url.QueryEscape(strings.Join(ids, ",")) + "#print"})
	}
	return m
}
