package deals

import (
	"cmp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/console/web"
)

type card struct {
	ID, Title, Href string
	Client          string
	Face            web.Picture // of the client
	Amount          string
	Step            string // what comes next, or how long it has been in its stage
	Warn            bool   // the step is late
	Late            bool   // it has been in its stage for longer than the stage allows
	Version         int64
	Move, Menu      string // addresses
	Focus           bool
}

func cardOf(q *web.Request, d deals.ListItem, s deals.Stage, focus uuid.UUID) card {
	at := q.Path("/deals/" + d.ID.String())
	c := card{ID: d.ID.String(), Title: titleOf(q, d.Header), Href: at, Client: record.OrZero(d.CustomerName), Amount: q.Money(int64(d.Total)), Version: d.Version, Move: at + "/move", Menu: at + "/menu", Focus: d.ID == focus}
	c.Face = web.Face(c.Client)
	c.Face.Size = "xs"
	in := q.Now.Sub(cmp.Or(d.StageEnteredAt, &d.CreatedAt).Std())
	c.Late = s.SLAHours != nil && *s.SLAHours > 0 && in > time.Duration(*s.SLAHours)*time.Hour
	switch {
	case c.Late:
		c.Step, c.Warn = age(q, in)+" · "+q.T("deals.late.card"), true
	case d.NextActionAt == nil:
		c.Step = age(q, in)
	case d.NextActionAt.Std().Before(q.Now):
		c.Step, c.Warn = q.T("deals.step.late", age(q, q.Now.Sub(d.NextActionAt.Std()))), true
	default:
		c.Step = q.T("deals.step", q.At(d.NextActionAt.Std()).Short())
	}
	return c
}

// titleOf is what people call a deal: the first line of its note, or else its number.
func titleOf(q *web.Request, d deals.Header) string {
	first, _, _ := strings.Cut(strings.TrimSpace(record.OrZero(d.Note)), "\n")
	if first = strings.TrimSpace(first); first == "" {
		return q.T("deals.number", d.Number)
	}
	if letters := []rune(first); len(letters) > maxTitle {
		return string(letters[:maxTitle]) + "…"
	}
	return first
}

const maxTitle = 80 // characters

// age is how long something has lasted.
func age(q *web.Request, d time.Duration) string {
	switch {
	case d < time.Hour:
		return q.T("deals.age.minutes", max(int(d/time.Minute), 0))
	case d < 48*time.Hour:
		return q.T("deals.age.hours", int(d/time.Hour))
	}
	return q.T("deals.age.days", int(d/(24*time.Hour)))
}
