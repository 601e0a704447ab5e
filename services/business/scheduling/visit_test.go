package scheduling_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/calendar"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
)

// public is a company whose customers have links, with the service that serves them.
type public struct {
	kit

	db      *db.DB
	ahead   *atomic.Int64 // how far its clock is ahead
	service *scheduling.Service
	with    func(keys *secret.Keys) *scheduling.Service // another process
	lines   [2]string                                   // of keys
}

// set changes settings of the company.
func (p public) set(change func(s *access.BookingSettings)) { change(&p.Principal.Settings.Bookings) }

func openLinks(t *testing.T) public {
	ahead := &atomic.Int64{}
	ahead.Store(int64(time.Until(day.Add(-24 * time.Hour))))
	return openLinksIn(t, dbtest.Open(t), ahead)
}

// later has time pass.
func (p public) later(by time.Duration) { p.ahead.Add(int64(by)) }

// soon books a time so long after now.
func (p public) soon(resource string, in time.Duration, fields ...any) object {
	p.t.Helper()
	return p.book(resource, p.db.Now().Add(in).UTC().Format(time.RFC3339), append([]any{"customerEmail", "bo@example.com"}, fields...)...).OK(201)
}

func openLinksIn(t *testing.T, d *db.DB, ahead *atomic.Int64, edit ...func(*access.Principal)) public {
	t.Helper()
	d = d.WithClock(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	p := public{db: d, ahead: ahead, lines: [2]string{secret.NewKey("one"), secret.NewKey("two")}}
	var companies sync.Map
	customer := func(_ context.Context, _ db.Querier, id tenant.ID) (access.Caller, error) {
		found, ok := companies.Load(id)
		if !ok {
			return access.Caller{}, apierr.New(404, "COMPANY_NOT_FOUND", "it is archived")
		}
		of := found.(*access.Principal)
		return access.Caller{Principal: &access.Principal{Company: id, CompanyName: of.CompanyName, CountryPrefix: "+49", Customer: true, Components: of.Components, Settings: of.Settings}}, nil
	}
	p.with = func(keys *secret.Keys) *scheduling.Service {
		return scheduling.New(scheduling.Config{
			DB: d, Calendar: calendar.New(), Clients: clients.New(clients.Config{DB: d, Users: users{}}),
			Service: servicecatalog.Booked, Services: servicecatalog.Known, Users: people, Branches: people, Keys: keys, Customer: customer,
			Letter: func(kind string, l scheduling.Letter) (subject, text string) {
				return kind + " at " + l.Company, fmt.Sprintf("%s|%s|%s|%s", l.Customer, l.Resource, l.StartAt.Format(time.RFC3339), l.URL)
			},
		})
	}
	keys, err := secret.ParseKeys(p.lines[0])
	require.NoError(t, err)
	p.service = p.with(keys)
	server := apitest.New(t, d, clients.New(clients.Config{DB: d, Users: users{}}).Register, p.service.Register)
	p.kit = kit{server.Company(append([]func(*access.Principal){func(c *access.Principal) {
		c.Settings.Bookings = access.BookingSettings{URL: "https://book.example.com", ChangeMinutes: 60}
		companies.Store(c.Company, c)
	}}, edit...)...), t}
	return p
}

// token is that of the link of a booking.
func token(t *testing.T, b object) string {
	t.Helper()
	require.NotNil(t, b["publicUrl"])
	u, err := url.Parse(b["publicUrl"].(string))
	require.NoError(t, err)
	require.Equal(t, "https://book.example.com", u.Scheme+"://"+u.Host)
	text, ok := strings.CutPrefix(u.Path, scheduling.LinkPath)
	require.True(t, ok)
	return text
}

func (p public) change(tok, do string, version float64, start time.Time) error {
	p.t.Helper()
	return p.service.ChangeByLink(p.t.Context(), tok, scheduling.VisitChange{Do: do, Version: int64(version), StartAt: start})
}

func (p public) read(b object) object { return p.Do(p.t, "GET", path(b), nil).OK(200) }

func TestOnlyReadersOfCustomersSeeLinks(t *testing.T) {
	t.Parallel()
	p := openLinks(t)
	b := p.book(p.resource(), at("10:00")).OK(201)
	require.Equal(t, b, p.read(b), "the link stays the same")
	require.Equal(t, b["publicUrl"], p.Do(t, "GET", "/scheduling/bookings", nil).OK(200)["items"].([]any)[0].(object)["publicUrl"])
	require.Equal(t, b["publicUrl"], p.move(b, "confirmed").OK(200)["publicUrl"])
	for _, e := range p.allEvents() {
		require.Nil(t, e.Data["publicUrl"], "%s goes to whoever may read bookings", e.Name)
	}
	p.Principal.Scopes = access.Scopes{"scheduling:write"}
	require.Nil(t, p.read(b)["publicUrl"])
	p.Principal.Scopes = access.Scopes{"scheduling:read", "clients:read"}
	require.NotNil(t, p.read(b)["publicUrl"])
	p.set(func(s *access.BookingSettings) { s.URL = "" })
	require.Nil(t, p.read(b)["publicUrl"], "the company has none")
}

func (p public) allEvents() apitest.Raised {
	return apitest.RaisedBy(p.t, p.db, p.Principal.Company).Of("booking.")
}

func TestCustomersConfirmMoveAndCancelByLink(t *testing.T) {
	t.Parallel()
	p := openLinks(t)
	r := p.resource()
	other := p.book(r, at("11:00"), "customerName", "Cleo").OK(201)
	b := p.book(r, at("10:00"), "durationMinutes", 60).OK(201)
	tok := token(t, b)
	v, err := p.service.Visit(t.Context(), tok)
	require.NoError(t, err)
	require.Equal(t, []any{b["id"], "Test company", true, true, at("09:00")}, []any{v.Booking.ID.String(), v.Company, v.CanConfirm, v.CanChange, v.ChangeUntil.Format("2006-01-02T15:04:05.000Z")})
	require.Equal(t, b, p.read(b), "opening it has changed nothing")

	require.NoError(t, p.change(tok, scheduling.VisitConfirm, 1, time.Time{}))
	require.ErrorIs(t, p.change(tok, scheduling.VisitConfirm, 1, time.Time{}), scheduling.ErrLinkStale, "the form was sent twice")
	require.ErrorIs(t, p.change(tok, scheduling.VisitConfirm, 2, time.Time{}), scheduling.ErrLinkLate, "it is confirmed")

	days, err := p.service.FreeTimes(t.Context(), v, jsontype.Date(day))
	require.NoError(t, err)
	require.Len(t, days, scheduling.VisitDays)
	for _, slot := range days[0].Slots {
		require.NotEqual(t, other["startAt"], slot.StartAt.String(), "a taken time is not offered")
	}
	for _, taken := range []time.Time{day.Add(11 * time.Hour), day.Add(12*time.Hour + time.Minute), {}, time.Now().Add(-time.Hour)} {
		require.ErrorIs(t, p.change(tok, scheduling.VisitMove, 2, taken), scheduling.ErrLinkTaken, "only times that are offered: %s", taken)
	}
	require.NoError(t, p.change(tok, scheduling.VisitMove, 2, day.Add(14*time.Hour)))
	require.ErrorIs(t, p.change(tok, scheduling.VisitMove, 2, day.Add(16*time.Hour)), scheduling.ErrLinkStale, "a replay changes nothing")
	moved := p.read(b)
	require.Equal(t, []any{at("14:00"), "confirmed", 3.0, b["publicUrl"]}, []any{moved["startAt"], moved["status"], moved["version"], moved["publicUrl"]}, "the link goes on working")

	require.NoError(t, p.change(tok, scheduling.VisitCancel, 3, time.Time{}))
	gone := p.read(b)
	require.Equal(t, []any{"cancelled", nil}, []any{gone["status"], gone["publicUrl"]})
	v, err = p.service.Visit(t.Context(), tok)
	require.NoError(t, err, "it says that the booking is cancelled")
	require.False(t, v.CanChange || v.CanConfirm)
	for _, do := range []string{scheduling.VisitConfirm, scheduling.VisitCancel, scheduling.VisitMove, "complete", ""} {
		require.ErrorIs(t, p.change(tok, do, 4, day.Add(18*time.Hour)), scheduling.ErrLinkLate)
	}
	by := map[string]string{}
	for _, e := range p.allEvents() {
		if e.Data["id"] == b["id"] {
			by[e.Name] = e.By
		}
	}
	require.Equal(t, map[string]string{
		"booking.created": p.Principal.Actor.String(), "booking.confirmed": "customer", "booking.status_changed": "customer", "booking.rescheduled": "customer", "booking.cancelled": "customer",
	}, by)
}

// Of two at once for one place, one gets it.
func TestMovesByLinkTakeAPlaceOnce(t *testing.T) {
	t.Parallel()
	p := openLinks(t)
	r := p.resource()
	const n = 6
	var tokens []string
	for i := range n {
		tokens = append(tokens, token(t, p.book(r, day.Add(time.Duration(i)*time.Hour).Format(time.RFC3339), "durationMinutes", 60).OK(201)))
	}
	errs := make([]error, n)
	together(n, func(i int) { errs[i] = p.change(tokens[i], scheduling.VisitMove, 1, day.Add(20*time.Hour)) })
	moved := 0
	for _, err := range errs {
		if err == nil {
			moved++
			continue
		}
		require.ErrorIs(t, err, scheduling.ErrLinkTaken)
	}
	require.Equal(t, 1, moved)
}

func TestLinksThatLeadNowhere(t *testing.T) {
	t.Parallel()
	p, stranger := openLinks(t), openLinks(t)
	b := p.book(p.resource(), at("10:00"), "customerEmail", "bo@example.com").OK(201)
	tok, foreign := token(t, b), token(t, stranger.book(stranger.resource(), at("10:00")).OK(201))
	name := tok[len(tok)-48:]
	for what, bad := range map[string]string{
		"nothing": "", "no signature": name, "an empty one": "." + name, "another's signature": foreign[:len(foreign)-48] + name, "a changed byte": strings.Replace(tok, "one.", "one.x", 1)[:len(tok)],
		"another name": tok[:len(tok)-1] + "B", "an unknown key": strings.Replace(tok, "one.", "two.", 1), "cut": tok[:len(tok)-1], "too long": strings.Repeat("x", 400) + tok,
		"the key of another purpose": p.signed("file url", name) + "." + name,
	} {
		_, ok, err := p.service.CheckLink(bad)
		require.NoError(t, err, what)
		require.False(t, ok, what)
		_, err = p.service.Visit(t.Context(), bad)
		require.ErrorIs(t, err, scheduling.ErrNoLink, what)
	}
	_, err := stranger.service.Visit(t.Context(), tok)
	require.ErrorIs(t, err, scheduling.ErrNoLink, "signed with keys of another platform")

	both, err := secret.ParseKeys(p.lines[1] + "\n" + p.lines[0])
	require.NoError(t, err)
	rotated := p.with(both)
	_, err = rotated.Visit(t.Context(), tok)
	require.NoError(t, err, "the key is not the first any more")
	alone, err := secret.ParseKeys(p.lines[1])
	require.NoError(t, err)
	_, err = p.with(alone).Visit(t.Context(), tok)
	require.ErrorIs(t, err, scheduling.ErrNoLink, "the key is gone")

	mended := p.Do(t, "PATCH", path(b), object{"customerEmail": "bob@example.com"}).OK(200)
	require.NotEqual(t, b["publicUrl"], mended["publicUrl"])
	_, err = p.service.Visit(t.Context(), tok)
	require.ErrorIs(t, err, scheduling.ErrNoLink, "it went to the wrong person")
	tok = token(t, mended)
	require.Equal(t, mended["publicUrl"], p.Do(t, "PATCH", path(b), object{"note": "x"}).OK(200)["publicUrl"])
	p.set(func(s *access.BookingSettings) { s.URL = "" })
	_, err = p.service.Visit(t.Context(), tok)
	require.ErrorIs(t, err, scheduling.ErrNoLink, "the company has no links any more")
	p.set(func(s *access.BookingSettings) { s.URL = "https://book.example.com" })
	p.Principal.Components = nil
	_, err = p.service.Visit(t.Context(), tok)
	require.ErrorIs(t, err, scheduling.ErrNoLink, "the component is off")
}

func (p public) signed(purpose, text string) string {
	keys, err := secret.ParseKeys(p.lines[0])
	require.NoError(p.t, err)
	signature, err := keys.Sign(purpose, text)
	require.NoError(p.t, err)
	return signature
}

func TestLinksEndWithTheirBooking(t *testing.T) {
	t.Parallel()
	p := openLinks(t)
	b := p.soon(p.resource(), 2*time.Hour, "durationMinutes", 60)
	tok := token(t, b)
	p.later(61 * time.Minute)
	v, err := p.service.Visit(t.Context(), tok)
	require.NoError(t, err)
	require.Equal(t, []bool{true, false}, []bool{v.CanConfirm, v.CanChange}, "it is too late to change it")
	require.ErrorIs(t, p.change(tok, scheduling.VisitCancel, 1, time.Time{}), scheduling.ErrLinkLate)
	require.ErrorIs(t, p.change(tok, scheduling.VisitMove, 1, day), scheduling.ErrLinkLate)
	p.set(func(s *access.BookingSettings) { s.ChangeMinutes = 0 })
	v, err = p.service.Visit(t.Context(), tok)
	require.NoError(t, err)
	require.True(t, v.CanChange)
	p.later(time.Hour)
	v, err = p.service.Visit(t.Context(), tok)
	require.NoError(t, err)
	require.False(t, v.CanConfirm || v.CanChange, "it has begun")
	p.later(time.Hour)
	_, err = p.service.Visit(t.Context(), tok)
	require.ErrorIs(t, err, scheduling.ErrLinkOver)
	require.ErrorIs(t, p.change(tok, scheduling.VisitCancel, 1, time.Time{}), scheduling.ErrLinkOver)
}

// mail is a row of the letters.
type mail struct {
	Kind, Recipient, Subject, Body string
	From, ReplyTo                  *string
}

func (p public) mails() []mail {
	p.t.Helper()
	all, err := db.Collect(p.t.Context(), p.db, "read mails", pgx.RowToStructByPos[mail],
		`SELECT kind, recipient, subject, body, sender_name, reply_to FROM notices WHERE company_id = $1 ORDER BY created_at, kind`, p.Principal.Company)
	require.NoError(p.t, err)
	return all
}

func TestLettersToCustomers(t *testing.T) {
	t.Parallel()
	p := openLinks(t)
	r := p.resource("timeZone", "Europe/Berlin")
	p.book(r, at("09:00"), "customerEmail", "bo@example.com").OK(201)
	require.Empty(t, p.mails(), "the company sends none")
	answers := "shop@example.com"
	p.set(func(s *access.BookingSettings) { s.Mails, s.ReplyTo = true, &answers })
	client := p.customer("phone", "+49 30 555", "email", "cleo@example.com")
	p.book(r, at("10:00")).OK(201)
	require.Empty(t, p.mails(), "nobody knows an address")
	b := p.book(r, at("11:00"), "customerEmail", "bo@example.com").OK(201)
	p.book(r, at("12:00"), "clientId", client).OK(201)
	p.move(b, "confirmed").OK(200)
	b = p.Do(t, "PATCH", path(b), object{"startAt": at("15:00")}).OK(200)
	p.Do(t, "PATCH", path(b), object{"note": "no news"}).OK(200)
	b = p.Do(t, "PATCH", path(b), object{"customerEmail": "bob@example.com"}).OK(200)
	p.move(b, "cancelled").OK(200)
	got := p.mails()
	kinds := make([][2]string, len(got))
	for i, m := range got {
		kinds[i] = [2]string{m.Kind, m.Recipient}
	}
	require.Equal(t, [][2]string{
		{"customer.booking.created", "bo@example.com"},
		{"customer.booking.created", "cleo@example.com"},
		{"customer.booking.confirmed", "bo@example.com"},
		{"customer.booking.moved", "bo@example.com"},
		{"customer.booking.created", "bob@example.com"},
		{"customer.booking.cancelled", "bob@example.com"},
	}, kinds)
	require.Contains(t, got[4].Body, "Bo|Ann|2040-01-03T16:00:00+01:00|"+b["publicUrl"].(string))
	require.True(t, strings.HasSuffix(strings.TrimSpace(got[5].Body), "|"), "a cancelled booking has no link")
	require.Equal(t, []*string{&p.Principal.CompanyName, &answers}, []*string{got[0].From, got[0].ReplyTo})
	past := p.soon(r, -time.Minute)
	p.move(past, "confirmed").OK(200)
	require.Len(t, p.mails(), len(got), "it has begun")
}
