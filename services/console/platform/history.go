package platform

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/operations"
)

// history is how the pipeline stood over the last hours.
type history struct {
	Ranges web.Ranges
	Empty  *web.Empty // nothing was sampled in this time
	Charts []*web.Chart
}

// historyOver is a time that charts go over, and how much of it they show as one.
type historyOver struct {
	hours int
	step  time.Duration
}

var historiesOver = []historyOver{{6, 5 * time.Minute}, {24, 20 * time.Minute}, {48, 40 * time.Minute}}

func (o historyOver) steps() int { return o.hours * int(time.Hour/o.step) }

// stood is how the pipeline stood in a step: NaN where nobody knows.
type stood struct {
	published                                      float64 // a minute
	outboxRows, outboxAge, deliveries, deliveryAge float64 // the most in the step; ages in seconds
	delivered, retried, failed                     float64 // attempts a minute
}

// history draws how the pipeline stood.
func (pages *Pages) history(ctx context.Context, q *web.Request) (history, error) {
	over := historiesOver[0]
	h := history{Ranges: web.Ranges{Label: q.T("platform.history")}}
	for _, o := range historiesOver {
		if q.Form.Get("hours") == strconv.Itoa(o.hours) {
			over = o
		}
	}
	for _, o := range historiesOver {
		h.Ranges.Tabs = append(h.Ranges.Tabs, web.Tab{
			Text: q.Duration(time.Duration(o.hours) * time.Hour), Href: "/platform/pipeline?hours=" + strconv.Itoa(o.hours), Current: o == over,
		})
	}
	from := q.Now.Truncate(over.step).Add(-time.Duration(over.steps()-1) * over.step)
	samples, err := pages.Platform.Samples(ctx, from.Add(-operations.SampleEvery)) // one more, of which the first step is the difference
	if err != nil {
		return h, err
	}
	if len(samples) < 2 {
		h.Empty = &web.Empty{Title: q.T("platform.history.none"), Text: q.T("platform.history.none.text")}
		return h, nil
	}
	attempts, err := pages.Platform.Attempts(ctx, from.Add(operations.SampleEvery))
	if err != nil {
		return h, err
	}
	all := stepsOf(samples, from, over)
	addAttempts(all, attempts, from, over)
	h.Charts = charts(q, web.Span{From: from, Step: over.step}, all)
	return h, nil
}

// stepsOf sums samples up by steps.
func stepsOf(samples []operations.Sample, from time.Time, over historyOver) []stood {
	all, published, minutes := make([]stood, over.steps()), make([]float64, over.steps()), make([]float64, over.steps())
	for i := range all {
		all[i] = stood{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	var before operations.Sample
	for _, s := range samples {
		last := before
		if before = s; s.At.Before(from) {
			continue
		}
		at := int(s.At.Sub(from) / over.step)
		if at >= len(all) {
			break
		}
		raise(&all[at].outboxRows, float64(s.OutboxRows))
		raise(&all[at].outboxAge, s.OutboxAge.Seconds())
		raise(&all[at].deliveries, float64(s.OpenDeliveries))
		raise(&all[at].deliveryAge, s.OpenAge.Seconds())
		if s.At.Sub(last.At) > over.step || s.Published < last.Published {
			continue // nobody knows when what was published meanwhile was published, or the database was restored
		}
		published[at] += float64(s.Published - last.Published)
		minutes[at] += s.At.Sub(last.At).Minutes()
		all[at].published = published[at] / minutes[at]
	}
	return all
}

// addAttempts adds how many attempts a minute were made, of the minutes in which senders ran.
func addAttempts(all []stood, attempts []store.AttemptCount, from time.Time, over historyOver) {
	minutes := make([]int64, len(all))
	sums := make([]store.AttemptCount, len(all))
	for _, m := range attempts {
		at := int(m.At.Add(-time.Nanosecond).Sub(from) / over.step) // a minute belongs to the step that it lies in
		if !m.At.After(from) || at >= len(all) {
			continue
		}
		minutes[at]++
		sum := &sums[at]
		sum.Delivered, sum.Retried, sum.Failed = sum.Delivered+m.Delivered, sum.Retried+m.Retried, sum.Failed+m.Failed
		n := float64(minutes[at])
		all[at].delivered, all[at].retried, all[at].failed = float64(sum.Delivered)/n, float64(sum.Retried)/n, float64(sum.Failed)/n
	}
}

// raise sets a value that is not known, or is less.
func raise(v *float64, to float64) {
	if math.IsNaN(*v) || to > *v {
		*v = to
	}
}

// charts are what was published, what waited, and for how long.
func charts(q *web.Request, span web.Span, all []stood) []*web.Chart {
	series := func(kind, name string, of func(stood) float64, text func(float64) string) web.Series {
		s := web.Series{Kind: kind, Name: q.T(name)}
		for _, one := range all {
			s.Values, s.Texts = append(s.Values, of(one)), append(s.Texts, text(of(one)))
		}
		return s
	}
	count := func(v float64) string { return q.Number(strconv.FormatFloat(math.Round(v), 'f', 0, 64)) }
	rate := func(v float64) string { return q.Number(strconv.FormatFloat(v, 'f', 1, 64)) }
	age := func(v float64) string { return q.Duration(time.Duration(v * float64(time.Second))) }
	return []*web.Chart{
		q.Bars(q.T("platform.history.published"), span, series(web.Info, "platform.history.events", func(s stood) float64 { return s.published }, rate)),
		q.Bars(q.T("platform.history.attempts"), span,
			series(web.Good, "platform.history.delivered", func(s stood) float64 { return s.delivered }, rate),
			series(web.Warn, "platform.history.retried", func(s stood) float64 { return s.retried }, rate),
			series(web.Bad, "platform.history.failed", func(s stood) float64 { return s.failed }, rate)),
		q.Lines(q.T("platform.outbox"), span, series(web.Info, "platform.history.most", func(s stood) float64 { return s.outboxRows }, count)),
		q.Lines(q.T("platform.open"), span, series(web.Info, "platform.history.most", func(s stood) float64 { return s.deliveries }, count)),
		q.Lines(q.T("platform.history.age"), span,
			series(web.Info, "platform.outbox", func(s stood) float64 { return s.outboxAge }, age),
			series(web.Off, "platform.open", func(s stood) float64 { return s.deliveryAge }, age)),
	}
}
