package signin

import (
	"net/url"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
	"github.com/tradegrid/tradegrid/services/accounts"
)

// with adds the cookies of a session that began.
func with(q *web.Request, a web.Answer, e accounts.Entered) web.Answer {
	for _, c := range q.SessionCookies(e) {
		a = a.With(c)
	}
	return a
}

func escape(text string) string { return url.QueryEscape(text) }
