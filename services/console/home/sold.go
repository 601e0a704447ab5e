package home

import (
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/console/web"
)

const hoursOfDay = 24

// The hours that a chart shows at least.
const (
	opens  = 9
	closes = 18
)

// sold is what orders and sales at the till come to, less refunds and what was cancelled, by hour.
type sold struct {
	known      bool
	now, was   [hoursOfDay]int64
	any, wasIt bool // there is something of today, and of a week ago
}

// sold adds up orders and sales. It is not known while a part of it is being added up.
func (d *day) sold() (s sold) {
	if d.late.Load() || (d.sales == nil && d.orders == nil) {
		return s
	}
	s.known = true
	if d.sales != nil {
		for _, r := range d.sales.Rows {
			s.add(r.Day, r.Hour, d.sales.To, int64(r.NetTotal))
		}
	}
	if d.orders != nil {
		for _, r := range d.orders.Rows {
			s.add(r.Day, r.Hour, d.orders.To, int64(r.Payable))
		}
	}
	return s
}

// add adds an amount of an hour, if its day is the last of the report or the same weekday before.
func (s *sold) add(day *jsontype.Date, hour *int32, last jsontype.Date, amount int64) {
	if day == nil || hour == nil || *hour < 0 || *hour >= hoursOfDay {
		return
	}
	switch time.Time(*day) {
	case time.Time(last):
		s.now[*hour] += amount
		s.any = true
	case time.Time(last).AddDate(0, 0, -7):
		s.was[*hour] += amount
		s.wasIt = true
	}
}

// sentence says how much was sold so far, against what was sold until this time a week ago. Of the hour that is not over, as much
// counts as has passed.
func (s sold) sentence(q *web.Request) string {
	if !s.known {
		return ""
	}
	at := q.Now.In(q.Zone)
	var now, was int64
	for h := range hoursOfDay {
		now += s.now[h]
		switch {
		case h < at.Hour():
			was += s.was[h]
		case h == at.Hour():
			was += s.was[h] * int64(at.Minute()) / 60
		}
	}
	sum, day := q.Money(now), weekday(q)
	switch change, ok := percent(now, was); {
	case !s.any:
		return q.T("home.sold.nothing")
	case !ok:
		return q.T("home.sold", sum)
	case change > 0:
		return q.T("home.sold.more", sum, change, day)
	case change < 0:
		return q.T("home.sold.less", sum, -change, day)
	default:
		return q.T("home.sold.same", sum, day)
	}
}

// percent is by how much now is more than was, in percent; ok is false if there is nothing to compare it with.
func percent(now, was int64) (change int64, ok bool) {
	if was <= 0 || now < 0 {
		return 0, false
	}
	return int64((float64(now)/float64(was) - 1) * 100), true
}

// course is the chart of the hours; nil if neither day has anything.
func (s sold) course(q *web.Request) *web.Course {
	if !s.known || !s.any && !s.wasIt {
		return nil
	}
	hour := q.Now.In(q.Zone).Hour()
	first, last := opens, max(closes, hour)
	for h := range hoursOfDay {
		if s.now[h] != 0 || s.was[h] != 0 {
			first, last = min(first, h), max(last, h)
		}
	}
	first = min(first, hour)
	unit := 1.0
	for range money.Digits(q.Company.Currency) {
		unit *= 10
	}
	day := weekday(q)
	now, was := web.Series{Name: q.T("home.today")}, web.Series{Name: q.T("home.last", day)}
	var names []string
	for h := first; h <= last; h++ {
		names = append(names, strconv.Itoa(h))
		was.Values, was.Texts = append(was.Values, float64(s.was[h])/unit), append(was.Texts, q.Amount(s.was[h]))
		if h <= hour {
			now.Values, now.Texts = append(now.Values, float64(s.now[h])/unit), append(now.Texts, q.Amount(s.now[h]))
		}
	}
	return q.Course(q.T("home.hours.label", day), q.T("home.hour"), names, now, was)
}
