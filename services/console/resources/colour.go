package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Kinds are the colours of states. Others are neutral.
var Kinds = map[string]string{
	"new": web.Info, "pending": web.Warn, "confirmed": web.Info, "in_progress": web.Info, "ready": web.Info, "completed": web.Good, "cancelled": web.Off,
	"no_show": web.Bad, "unpaid": web.Warn, "partial": web.Warn, "paid": web.Good, "refunded": web.Off, "full": web.Off, "active": web.Good, "archived": web.Off,
	"hidden": web.Off, "open": web.Info, "closed": web.Off, "posted": web.Good, "won": web.Good, "done": web.Good, "lost": web.Bad, "converted": web.Good, "spam": web.Bad,
	"shipped": web.Good, "payment": web.Good, "sale": web.Good, "refund": web.Warn, "in": web.Good, "out": web.Warn,
}

// KindOf is the colour of a state.
func KindOf(value string) string {
	if k, ok := Kinds[value]; ok {
		return k
	}
	return web.Off
}
