package webhooks

import (
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

const (
	sharesOf    = 100 // events that are looked at
	sharesShown = 10  // names of events
)

// sharesTable shows which events happen most, and what of them a receiver gets.
func sharesTable(q *web.Request, all webhooks.EventShares) web.Table {
	t := web.Table{
		Label:   q.T("webhooks.shares"),
		Columns: []web.Column{{Text: q.T("webhooks.event")}, {Text: q.T("webhooks.shares.share")}, {Text: q.T("webhooks.shares.happened"), Num: true}, {Text: q.T("webhooks.shares.gets")}},
		Empty:   web.Empty{Title: q.T("webhooks.shares.none"), Text: q.T("webhooks.shares.none.text")},
	}
	for _, one := range all.Names[:min(len(all.Names), sharesShown)] {
		gets := web.State(web.Good, q.T("webhooks.shares.all"))
		switch {
		case one.Wanted == 0:
			gets = web.State(web.Off, q.T("outcome."+one.Why))
		case one.Wanted < one.Happened:
			gets = web.State(web.Info, q.T("webhooks.shares.some", one.Wanted, one.Happened)).With(q.T("outcome." + one.Why))
		}
		part := 100 * float64(one.Happened) / float64(all.Events)
		t.Rows = append(t.Rows, []web.Cell{
			web.LinkTo(one.Event, web.With(q.Path("/events"), "event", one.Event)), web.Progress(int(part), q.Share(part)), web.Number(q.Count(int64(one.Happened))), gets,
		})
	}
	return t
}
