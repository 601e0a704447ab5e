package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

// colours are those of states. Others are neutral.
var colours = map[string]string{
	"new": web.Info, "pending": web.Warn, "confirmed": web.Info, "in_progress": web.Info, "ready": web.Info, "completed": web.Good, "cancelled": web.Off,
	"no_show": web.Bad, "unpaid": web.Warn, "partial": web.Warn, "paid": web.Good, "refunded": web.Off, "full": web.Off, "active": web.Good, "archived": web.Off,
	"hidden": web.Off, "open": web.Info, "closed": web.Off, "posted": web.Good, "won": web.Good, "done": web.Good, "lost": web.Bad, "converted": web.Good, "spam": web.Bad,
	"shipped": web.Good, "payment": web.Good, "sale": web.Good, "refund": web.Warn, "in": web.Good, "out": web.Warn,
}

// Colour is the colour in which a state is shown.
func Colour(state string) string {
	if c, ok := colours[state]; ok {
		return c
	}
	return web.Off
}

// Over reports whether a record in a state is out of use, so that moving it there is a danger.
func Over(state string) bool { return colours[state] == web.Off }
