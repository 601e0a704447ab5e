package bookings

import (
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// week is a row for each resource, and a column for each day.
type week struct {
	Days []web.Link
	Rows []weekRow
}

type weekRow struct {
	Name  web.Link
	Cells []weekCell
}

type weekCell struct {
	Day    string
	Closed bool
	Off    string // name of the day off, or of what changes its hours
	Items  []block
	More   *web.Link
}

func weekOf(q *web.Request, s state, sp *span) *week {
	w := &week{}
	for _, d := range sp.days {
		w.Days = append(w.Days, web.Link{Text: d.short(q), Href: state{view: viewDay, day: d}.href(q)})
	}
	for _, res := range sp.resources {
		row := weekRow{Name: web.Link{Text: res.Name, Href: s.of(&res.ID).href(q)}}
		for _, d := range sp.days {
			cell := weekCell{Day: d.short(q), Closed: len(res.HoursBetween(d.start, d.end)) == 0}
			if off := res.On(jsontype.Date(d.utc())); off != nil {
				cell.Off = off.Name
			}
			all := sp.of(res.ID, d)
			for _, b := range all[:min(len(all), maxInCell)] {
				cell.Items = append(cell.Items, block{
					Text: d.clock(b.StartAt.Std()) + " " + b.CustomerName, Also: q.T("bookings.status." + b.Status), Href: s.opened(b.ID).href(q), Kind: stateOfBooking(q, b), Chosen: s.open != nil && *s.open == b.ID,
					ID: "b-" + d.String() + b.ID.String(), Title: q.T("bookings.block", d.clock(b.StartAt.Std()), d.clock(b.EndAt.Std()), b.CustomerName, q.T("bookings.status."+b.Status)),
				})
			}
			if left := len(all) - maxInCell; left > 0 {
				cell.More = &web.Link{Text: q.T("bookings.more", left), Href: state{view: viewDay, day: d, resource: &res.ID}.href(q)}
			}
			row.Cells = append(row.Cells, cell)
		}
		w.Rows = append(w.Rows, row)
	}
	return w
}

// entry is a booking in the list of a day, which a phone shows.
type entry struct {
	Time string
	Chip web.Chip
	Name web.Link
	Text string
}

// maxAgenda is how many bookings of a day are listed.
const maxAgenda = 200

func agenda(q *web.Request, s state, sp *span) (all []entry) {
	d := sp.days[0]
	for _, b := range sp.bookings {
		if !b.EndAt.Std().After(d.start) || len(all) == maxAgenda {
			continue
		}
		all = append(all, entry{
			Time: d.clock(b.StartAt.Std()) + "–" + d.clock(b.EndAt.Std()), Chip: web.Chip{Kind: kinds[b.Status], Text: q.T("bookings.status." + b.Status)},
			Name: web.Link{Text: b.CustomerName, Href: s.opened(b.ID).href(q)}, Text: join(serviceOf(b), b.ResourceName),
		})
	}
	return all
}
