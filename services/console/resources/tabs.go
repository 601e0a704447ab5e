package resources

import "github.com/tradegrid/tradegrid/services/console/web"

// beginnings are the pages that areas begin with, which are no lists of this table.
var beginnings = []struct {
	area web.Area
	path string
}{{web.Deals, "/deals"}, {web.Leads, "/leads"}, {web.Bookings, "/bookings"}, {web.Warehouse, "/stock"}}

// Tabs are the lists of an area, and the page that it begins with. A list that is reached from that page has its tab.
func Tabs(q *web.Request, area web.Area, current string) (tabs []web.Tab) {
	all := All()
	for _, b := range beginnings {
		if b.area == area {
			tabs = append(tabs, web.Tab{Text: q.T("records.begin." + string(b.area)), Href: q.Path(b.path), Current: current == "" || within(all, current)})
		}
	}
	for _, r := range all {
		if r.Area == area && !r.Within {
			tabs = append(tabs, web.Tab{Text: r.Heading(q), Href: q.Path(r.Address), Current: r.Name == current})
		}
	}
	return tabs
}

func within(all []Resource, name string) bool {
	for _, r := range all {
		if r.Name == name {
			return r.Within
		}
	}
	return false
}
