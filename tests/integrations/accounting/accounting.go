// Command accounting keeps the journal of a shop: what was sold, refunded, and put into or taken out of the drawers, with taxes. It needs
// no address that others can reach: run it every night, or every hour. Go 1.23 or newer, no packages.
package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"time"
)

const (
	begin = "2000-01-01T00:00:00Z" // before the first record
	tries = 8
)

// APIError is a refusal, as docs/reference/errors.md describes it.
type APIError struct {
	StatusCode int
	Code       string
	Message    any // a string, or several
	RequestID  string
}

func (e *APIError) Error() string {
	return fmt.Sprintf("%d %s: %v (request %s)", e.StatusCode, e.Code, e.Message, e.RequestID)
}

// passes reports whether the same request may succeed later.
func (e *APIError) passes() bool {
	return slices.Contains([]int{408, 429, 500, 502, 503, 504}, e.StatusCode) && e.Code != "QUERY_TOO_EXPENSIVE"
}

// API reads from the API, again after what may pass.
type API struct {
	Base, Token string
	Calls       int
}

// get decodes the answer into out, and returns its headers.
func (a *API) get(ctx context.Context, path string, query url.Values, out any) (http.Header, error) {
	a.Calls++
	for attempt := 1; ; attempt++ {
		header, err := a.try(ctx, path, query, out)
		var refused *APIError
		if err == nil || attempt == tries || errors.As(err, &refused) && !refused.passes() {
			return header, err
		}
		pause := time.Duration(float64(min(100<<attempt, 10_000))*(0.5+rand.Float64()/2)) * time.Millisecond
		if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil {
			pause = time.Duration(seconds) * time.Second
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (a *API) try(ctx context.Context, path string, query url.Values, out any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, 35*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.Base+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+a.Token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		refused := &APIError{StatusCode: res.StatusCode, Message: string(body)}
		_ = json.Unmarshal(body, refused) // what is no JSON comes from something in between
		return res.Header, refused
	}
	return res.Header, json.Unmarshal(body, out)
}

// changed calls each with every record that was changed since, and returns since for the next time.
func changed[T any](ctx context.Context, a *API, path string, query url.Values, since string, each func(T) error) (string, error) {
	query.Set("updatedSince", since)
	query.Set("pageSize", "200")
	for {
		var page struct {
			Items      []T
			NextCursor *string
		}
		header, err := a.get(ctx, path, query, &page)
		if err != nil {
			return "", fmt.Errorf("read %s: %w", path, err)
		}
		for _, record := range page.Items {
			if err := each(record); err != nil {
				return "", err
			}
		}
		if page.NextCursor == nil {
			return header.Get("X-Sync-Watermark"), nil
		}
		query.Set("cursor", *page.NextCursor)
	}
}

// Sale is a receipt: of a sale, or with Kind refund of a refund, whose amounts are positive, too.
type Sale struct {
	ID, Kind, ShiftID string
	Number, Total     int64
	SoldAt            time.Time
	Taxes             []struct {
		Rate         json.Number
		Base, Amount int64
	}
	Payments []struct {
		PaymentMethod string
		Amount        int64
	}
}

// Shift is a drawer from its opening to its count.
type Shift struct {
	ID                                        string
	Number, OpeningCash, ExpectedCash         int64
	CashIn, CashOut, SalesCount, RefundsCount int64
	CashDifference                            *int64
	ClosedAt                                  *time.Time
}

// CashMovement is cash that was put into a drawer or taken out of it otherwise.
type CashMovement struct {
	ID, Type, Reason, ShiftID string
	Amount                    int64
	OccurredAt                time.Time
}

// Entry is a line of the journal. Minor units; above 0 is a debit.
type Entry struct {
	Day, Document, Account string
	Amount                 int64
}

// Books are what has been read so far. They know each document by its id, so that reading it again changes nothing. With many receipts,
// take a database.
type Books struct {
	Since     map[string]string
	TimeZone  string
	Sales     map[string]Sale
	Shifts    map[string]Shift
	Movements map[string]CashMovement
}

// Open reads books from a file; without the file they are empty.
func Open(file string) (*Books, error) {
	b := &Books{Since: map[string]string{}, Sales: map[string]Sale{}, Shifts: map[string]Shift{}, Movements: map[string]CashMovement{}}
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	return b, json.Unmarshal(content, b)
}

// Save writes the books, all or nothing.
func (b *Books) Save(file string) error {
	content, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// Update reads what is new: also receipts of shifts that were closed before, which a till that was offline has sent late.
func (b *Books) Update(ctx context.Context, a *API) error {
	var company struct{ TimeZone string }
	if _, err := a.get(ctx, "/company", nil, &company); err != nil {
		return fmt.Errorf("read the company: %w", err)
	}
	b.TimeZone = company.TimeZone
	var err error
	sales := url.Values{"include": {"payments"}}
	if b.Since["sales"], err = changed(ctx, a, "/sales", sales, b.since("sales"), func(s Sale) error { b.Sales[s.ID] = s; return nil }); err != nil {
		return err
	}
	b.Since["shifts"], err = changed(ctx, a, "/shifts", url.Values{}, b.since("shifts"), func(s Shift) error {
		known := b.Shifts[s.ID]
		if known.CashIn != s.CashIn || known.CashOut != s.CashOut {
			if err := b.updateMovements(ctx, a, s.ID); err != nil {
				return err
			}
		}
		b.Shifts[s.ID] = s
		return nil
	})
	return err
}

func (b *Books) updateMovements(ctx context.Context, a *API, shift string) (err error) {
	b.Since[shift], err = changed(ctx, a, "/shifts/"+shift+"/cash-movements", url.Values{}, b.since(shift), func(m CashMovement) error { b.Movements[m.ID] = m; return nil })
	return err
}

func (b *Books) since(what string) string {
	if since := b.Since[what]; since != "" {
		return since
	}
	return begin
}

// Journal is all entries by day. Each document adds up to 0.
func (b *Books) Journal() ([]Entry, error) {
	zone, err := time.LoadLocation(b.TimeZone)
	if err != nil {
		return nil, err
	}
	var all []Entry
	enter := func(at time.Time, document, account string, amount int64) {
		if amount != 0 {
			all = append(all, Entry{at.In(zone).Format(time.DateOnly), document, account, amount})
		}
	}
	for _, s := range b.Sales {
		sign, document := int64(1), fmt.Sprintf("Receipt %d", s.Number)
		if s.Kind == "refund" {
			sign = -1
		}
		for _, p := range s.Payments {
			enter(s.SoldAt, document, p.PaymentMethod, sign*p.Amount)
		}
		untaxed := s.Total
		for _, t := range s.Taxes {
			enter(s.SoldAt, document, "revenue "+t.Rate.String()+" %", -sign*t.Base)
			enter(s.SoldAt, document, "tax "+t.Rate.String()+" %", -sign*t.Amount)
			untaxed -= t.Base + t.Amount
		}
		enter(s.SoldAt, document, "revenue without tax", -sign*untaxed)
	}
	for _, m := range b.Movements {
		sign, document := int64(1), fmt.Sprintf("Shift %d: %s", b.Shifts[m.ShiftID].Number, m.Reason)
		if m.Type == "out" {
			sign = -1
		}
		enter(m.OccurredAt, document, "cash", sign*m.Amount)
		enter(m.OccurredAt, document, "cash in transit", -sign*m.Amount)
	}
	for _, s := range b.Shifts {
		if s.ClosedAt != nil && s.CashDifference != nil {
			document := fmt.Sprintf("Shift %d: count", s.Number)
			enter(*s.ClosedAt, document, "cash", *s.CashDifference)
			enter(*s.ClosedAt, document, "over and short", -*s.CashDifference)
		}
	}
	slices.SortFunc(all, func(x, y Entry) int {
		return slices.Compare([]string{x.Day, x.Document, x.Account}, []string{y.Day, y.Document, y.Account})
	})
	return all, nil
}

// Check compares the books of some days, which should be over, with the platform's sums, so that nothing is missing and nothing is there
// twice.
func (b *Books) Check(ctx context.Context, a *API, from, to string) error {
	entries, err := b.Journal()
	if err != nil {
		return err
	}
	type key struct{ day, account string }
	booked, documents := map[key]int64{}, map[string]int64{}
	for _, e := range entries {
		documents[e.Document] += e.Amount
		if e.Day >= from && e.Day <= to {
			booked[key{e.Day, e.Account}] += e.Amount
		}
	}
	for document, sum := range documents {
		if sum != 0 {
			return fmt.Errorf("%s does not add up: %d", document, sum)
		}
	}
	numbers := slices.Sorted(maps.Values(mapped(b.Sales, func(s Sale) int64 { return s.Number })))
	for i, number := range numbers {
		if number != int64(i+1) {
			return fmt.Errorf("receipt %d is missing", i+1)
		}
	}
	var report struct {
		Rows []struct {
			Day                 string
			TaxRate             *json.Number
			NetTotal, TaxAmount int64
		}
	}
	if _, err := a.get(ctx, "/reports/sales", url.Values{"from": {from}, "to": {to}, "groupBy": {"day,tax"}}, &report); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	for _, row := range report.Rows {
		revenue, tax := key{row.Day, "revenue without tax"}, key{}
		if row.TaxRate != nil {
			revenue.account, tax = "revenue "+row.TaxRate.String()+" %", key{row.Day, "tax " + row.TaxRate.String() + " %"}
		}
		if -booked[revenue] != row.NetTotal-row.TaxAmount || -booked[tax] != row.TaxAmount {
			return fmt.Errorf("%s at %v: booked %d and tax %d, reported %d and tax %d", row.Day, row.TaxRate, -booked[revenue], -booked[tax], row.NetTotal-row.TaxAmount, row.TaxAmount)
		}
	}
	return b.checkDrawers()
}

// checkDrawers compares the cash of each shift that is over with what the platform expects in its drawer.
func (b *Books) checkDrawers() error {
	cash := mapped(b.Shifts, func(s Shift) int64 { return s.OpeningCash })
	for _, s := range b.Sales {
		for _, p := range s.Payments {
			switch {
			case p.PaymentMethod != "cash":
			case s.Kind == "refund":
				cash[s.ShiftID] -= p.Amount
			default:
				cash[s.ShiftID] += p.Amount
			}
		}
	}
	for _, m := range b.Movements {
		if m.Type == "out" {
			m.Amount = -m.Amount
		}
		cash[m.ShiftID] += m.Amount
	}
	for id, s := range b.Shifts {
		if s.ClosedAt != nil && cash[id] != s.ExpectedCash {
			return fmt.Errorf("drawer of shift %d: booked %d, expected %d", s.Number, cash[id], s.ExpectedCash)
		}
	}
	return nil
}

func mapped[V, R any](all map[string]V, of func(V) R) map[string]R {
	out := make(map[string]R, len(all))
	for id, v := range all {
		out[id] = of(v)
	}
	return out
}

// WriteCSV writes the journal for an accounting program.
func (b *Books) WriteCSV(w io.Writer) error {
	entries, err := b.Journal()
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	rows := [][]string{{"day", "document", "account", "debit", "credit"}}
	for _, e := range entries {
		debit, credit := e.Amount, int64(0)
		if e.Amount < 0 {
			debit, credit = 0, -e.Amount
		}
		rows = append(rows, []string{e.Day, e.Document, e.Account, decimal(debit), decimal(credit)})
	}
	return out.WriteAll(rows)
}

// decimal is an amount in the units of a currency with two digits; see currencyDigits of GET /company for others.
func decimal(amount int64) string { return fmt.Sprintf("%d.%02d", amount/100, amount%100) }
