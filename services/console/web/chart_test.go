package web

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

// Bars lie within the plot and upon each other, and what they show is also a table.
func TestBars(t *testing.T) {
	t.Parallel()
	q := testRequest(t)
	at := time.Date(2026, 11, 24, 22, 0, 0, 0, time.UTC)
	c := q.Bars("Deliveries", Span{From: at, Step: time.Hour}, Series{Kind: Good, Name: "delivered", Values: []float64{1500, 0, 10}}, Series{Kind: Bad, Name: "failed", Values: []float64{300, 0, 1}})
	require.Len(t, c.Bars, 4, "nothing is drawn of nothing")
	number := func(text string) float64 {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		return v
	}
	for _, b := range c.Bars {
		require.GreaterOrEqual(t, number(b.X), float64(chartLeft))
		require.LessOrEqual(t, number(b.X)+number(b.Width), float64(chartWidth))
		require.GreaterOrEqual(t, number(b.Y), float64(chartTop)-.1)
		require.LessOrEqual(t, number(b.Y)+number(b.Height), float64(chartHeight-chartBottom)+1)
	}
	require.InDelta(t, number(c.Bars[0].Y), number(c.Bars[1].Y)+number(c.Bars[1].Height), .2, "the second stands on the first")
	require.Equal(t, "22:00 · delivered: 1,500", c.Bars[0].Title)
	require.Equal(t, "2,000", c.Ticks[len(c.Ticks)-1].Text)
	require.Len(t, c.Table.Rows, 3)
	require.Equal(t, "300", c.Table.Rows[0][2].Text)
	svg := drawn(t, q, c)
	require.Contains(t, svg, `role="img" aria-label="Deliveries"`)
	require.NotContains(t, svg, "style=", "the content policy allows none")
	require.NotContains(t, drawn(t, q, q.Bars("<script>", Span{From: at, Step: time.Hour}, Series{Kind: Good, Name: "<b>", Values: []float64{1}})), "<script>")
}

// What is not known is a gap in a line and in a row of bars, and a dash in the table; a value alone between gaps is a dot.
func TestGapsInCharts(t *testing.T) {
	t.Parallel()
	q := testRequest(t)
	unknown := math.NaN()
	s := Series{Kind: Good, Name: "x", Values: []float64{4, 2, unknown, 1, unknown, 3, 4}}
	span := Span{From: time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC), Step: time.Hour}
	lines := q.Lines("x", span, s)
	require.Len(t, lines.Lines, 3)
	require.Equal(t, []int{2, 2, 2}, []int{len(strings.Fields(lines.Lines[0].Points)), len(strings.Fields(lines.Lines[1].Points)), len(strings.Fields(lines.Lines[2].Points))})
	require.Equal(t, "4", lines.Ticks[len(lines.Ticks)-1].Text)
	require.Equal(t, "–", lines.Table.Rows[2][1].Text)
	bars := q.Bars("x", span, s)
	require.Len(t, bars.Bars, 5)
	for _, c := range []*Chart{lines, bars} {
		require.NotContains(t, drawn(t, q, c), "NaN")
	}
	require.Empty(t, q.Lines("x", span, Series{Values: []float64{unknown, unknown}}).Lines)
}

func TestChartsOfLittle(t *testing.T) {
	t.Parallel()
	q := testRequest(t)
	for _, values := range [][]float64{nil, {}, {0}, {0, 0}, {5}, {-1, 2}} {
		drawn(t, q, q.Bars("x", Span{From: time.Now(), Step: time.Hour}, Series{Values: values}))
		drawn(t, q, q.Lines("x", Span{From: time.Now(), Step: time.Hour}, Series{Values: values}))
		require.NotContains(t, drawn(t, q, q.Spark("x", Series{Values: values})), "NaN")
	}
	for v, up := range map[float64]float64{0: 1, 1: 1, 3: 4, 7: 10, 41: 60, 1048: 2000, 99999: 100000} {
		require.InDelta(t, up, roundUp(v), 1e-6, v)
	}
}

func testRequest(t *testing.T) *Request {
	t.Helper()
	a, err := New(Config{}, []Pages{}...)
	require.NoError(t, err)
	return &Request{app: a, lang: english, Zone: time.UTC, Now: time.Now()}
}

// drawn is the chart as a page has it; it has to be well formed.
func drawn(t *testing.T, q *Request, c *Chart) string {
	t.Helper()
	frame, err := q.app.views.byName[english+"/frame/error"]()
	require.NoError(t, err)
	all, err := template.Must(frame.Clone()).Parse(`{{define "one"}}{{template "chart" .}}{{end}}`)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, all.ExecuteTemplate(&b, "one", c))
	dec := xml.NewDecoder(strings.NewReader("<x>" + b.String() + "</x>"))
	dec.Strict = false
	for {
		_, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		require.NoError(t, err)
	}
}

// Those who watch the same thing share one look a second, which ends with the last of them.
func TestWatchersShareALook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLive(0)
		looks, token := 0, "a"
		var fails error
		w := ChangeSource{Key: "k", Token: func(context.Context) (string, error) { looks++; return token, fails }}
		one, leaveOne := l.join(w)
		two, leaveTwo := l.join(w)
		synctest.Wait()
		require.Equal(t, 1, looks)
		<-one
		<-two
		time.Sleep(10*lookEvery + lookEvery/2)
		synctest.Wait()
		require.Equal(t, 11, looks)
		require.Empty(t, one, "nothing has changed")
		fails = errors.New("the database is away")
		time.Sleep(2 * lookEvery)
		require.Empty(t, one, "what cannot be read has not changed")
		token, fails = "b", nil
		time.Sleep(lookEvery)
		synctest.Wait()
		<-one
		<-two
		got, over := l.state("k")
		require.Equal(t, "b", got)
		require.False(t, over)
		late, leaveLate := l.join(w)
		<-late // knows at once
		fails = errOver
		time.Sleep(lookEvery)
		synctest.Wait()
		<-one
		_, over = l.state("k")
		require.True(t, over)
		leaveOne()
		leaveTwo()
		leaveLate()
		synctest.Wait()
		before := looks
		time.Sleep(5 * lookEvery)
		require.Equal(t, before, looks)
		require.Empty(t, l.watches)
	})
}

// A change token that is not cheap is read as often as it says.
func TestWatchersOfAnExpensiveChangeToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLive(0)
		looks := 0
		var within time.Duration
		_, leave := l.join(ChangeSource{Key: "k", Every: 5 * lookEvery, Token: func(ctx context.Context) (string, error) {
			looks++
			until, _ := ctx.Deadline()
			within = time.Until(until)
			return "a", nil
		}})
		time.Sleep(11 * lookEvery)
		synctest.Wait()
		require.Equal(t, 3, looks)
		require.Equal(t, 5*lookEvery, within, "it has the time until the next one")
		leave()
	})
}

func TestStreamsAreLimited(t *testing.T) {
	t.Parallel()
	company := tenant.NewID()
	session := func(user uuid.UUID) accounts.Session {
		return accounts.Session{Owner: accounts.Owner{Company: company, User: user}, ID: uuid.New()}
	}
	fill := func(l *live, s accounts.Session) (leaves []func()) {
		for {
			leave, ok := l.enter(s)
			if !ok {
				return leaves
			}
			leaves = append(leaves, leave)
		}
	}
	l := newLive(0)
	one := uuid.New()
	of := fill(l, session(one))
	require.Len(t, of, MaxStreamsPerSession, "of a session")
	require.Len(t, fill(l, session(one)), personStreams-MaxStreamsPerSession, "of all sessions of a person")
	require.Empty(t, fill(l, session(one)))
	all := personStreams
	for all < companyStreams {
		more := len(fill(l, session(uuid.New())))
		require.Positive(t, more)
		all += more
	}
	require.Equal(t, companyStreams, all, "of all people of a company")
	for _, leave := range of {
		leave()
	}
	require.Len(t, fill(l, session(uuid.New())), MaxStreamsPerSession)
	require.Len(t, fill(l, accounts.Session{Operator: "token", ID: uuid.New()}), MaxStreamsPerSession, "operators are of no company")

	l = newLive(16)
	require.Len(t, append(fill(l, session(one)), fill(l, session(uuid.New()))...), 8, "half of the connections stay for pages")
}
