package clients

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// Statement is a part of the ledger of a client with the balances around it; see docs/reference/rules.md#statement-of-a-client.
type Statement struct {
	ClientID       uuid.UUID        `json:"clientId" format:"uuid"`
	From           *jsontype.Date   `json:"from" nullable:"true"`
	To             *jsontype.Date   `json:"to" nullable:"true"`
	TimeZone       string           `json:"timeZone" doc:"IANA name of the zone of the days, that of the company"`
	Currency       string           `json:"currency" doc:"ISO 4217; amounts are in its minor units"`
	OpeningBalance money.Amount     `json:"openingBalance" doc:"before the first entry of the period"`
	ClosingBalance money.Amount     `json:"closingBalance" doc:"after the last entry of the period; without to, the balance of the client"`
	Items          []StatementEntry `json:"items"`
	NextCursor     *string          `json:"nextCursor" nullable:"true" doc:"where to go on; null at the end"`
	HasMore        bool             `json:"hasMore"`
}

// SchemaName implements [jsontype.Named].
func (Statement) SchemaName() string { return "ClientStatement" }

// StatementEntry is what a document has charged a client, and what was paid for it.
type StatementEntry struct {
	ID        uuid.UUID     `json:"id" format:"uuid"`
	Date      jsontype.Time `json:"date" doc:"when it happened: completedAt of an order, returnedAt or cancelledAt of a return, paidAt of a payment, soldAt of a sale"`
	Kind      string        `json:"kind" enum:"order,return,return_cancelled,payment,refund,reassignment,sale,sale_refund,merge"`
	Charged   money.Amount  `json:"charged" doc:"what the client has to pay; negative for what it need not pay any more"`
	Paid      money.Amount  `json:"paid" doc:"what was paid; negative for what went back"`
	Amount    money.Amount  `json:"amount" doc:"what the balance changes by: paid - charged"`
	Balance   money.Amount  `json:"balance" doc:"after the entry"`
	OrderID   *uuid.UUID    `json:"orderId" format:"uuid" nullable:"true"`
	SaleID    *uuid.UUID    `json:"saleId" format:"uuid" nullable:"true"`
	Number    int64         `json:"number" doc:"of the order or sale; 0 for a merge"`
	PaymentID *uuid.UUID    `json:"paymentId" format:"uuid" nullable:"true" doc:"payment or refund of the order"`
	ReturnID  *uuid.UUID    `json:"returnId" format:"uuid" nullable:"true" doc:"return of the order, also of a refund that its request has recorded"`
	OtherID   *uuid.UUID    `json:"otherClientId" format:"uuid" nullable:"true" doc:"client that was merged, or that an order with payments came from or went to"`
	CreatedAt jsontype.Time `json:"createdAt" doc:"when it was recorded"`
}

// StatementQuery selects the entries of a statement.
type StatementQuery struct {
	From   *jsontype.Date `query:"from" doc:"first day, in the time zone of the company; default: from the beginning"`
	To     *jsontype.Date `query:"to" doc:"last day, in the time zone of the company; default: without end"`
	Order  string         `query:"order" enum:"asc,desc" doc:"by date; default desc"`
	Cursor string         `query:"cursor" maxLength:"1000" doc:"nextCursor of the page before"`
	list.PageLimit
}

// The bounds of a statement without from and to, which the database can store.
var (
	beginning = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	end       = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
)

// period are the bounds of the statement; to is exclusive.
func (q StatementQuery) period(zone *time.Location) (from, to time.Time, err error) {
	from, to = beginning, end
	if q.From != nil {
		from = q.From.At(0, zone)
	}
	if q.To != nil {
		to = q.To.At(24*60, zone)
	}
	if !from.Before(to) {
		err = apierr.InvalidField("from", apierr.Conflict, "must not be after to")
	}
	return from, to, err
}

// statementPlace is how far a statement was read. Its entries never change, so what was summed for the first page holds for all: they have
// those that the client had at that version, and the balance goes on from page to page.
type statementPlace struct {
	Query   string        `json:"q"` // that the place belongs to
	Version int64         `json:"v"`
	Opening money.Amount  `json:"o"`
	Closing money.Amount  `json:"c"`
	Balance money.Amount  `json:"b"` // between the entries read and those that follow
	Date    jsontype.Time `json:"d"` // of the last entry
	ID      uuid.UUID     `json:"i"`
}

// key tells statements apart, so that a cursor is used for the one that it was made for.
func (q StatementQuery) key(client uuid.UUID) string {
	day := func(d *jsontype.Date) string {
		if d == nil {
			return ""
		}
		return d.String()
	}
	return fmt.Sprint(client, day(q.From), day(q.To), q.Order == "asc")
}

func (p statementPlace) cursor() string {
	raw, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers, times and strings always encode
	}
	return base64.RawURLEncoding.EncodeToString(raw)
}

// place reads the cursor.
func (q StatementQuery) place(client uuid.UUID) (p statementPlace, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil || p.Query != q.key(client) {
		return p, apierr.InvalidField("cursor", apierr.Format, "is not valid for this client, period and order; start again without it")
	}
	return p, nil
}

// Statement returns a page of the entries of a client in a period, with the balances before and after it. The first page adds up the entries
// from the period on, which is charged to the token; the others go on from there.
//
// Errors: 404 CLIENT_NOT_FOUND, 503 [list.TooExpensive].
func (s *Service) Statement(ctx context.Context, by access.Caller, client uuid.UUID, q StatementQuery) (Statement, error) {
	zone := by.Settings.Zone()
	from, to, err := q.period(zone)
	if err != nil {
		return Statement{}, err
	}
	var p statementPlace
	if q.Cursor != "" {
		if p, err = q.place(client); err == nil {
			err = exists(ctx, s.cfg.DB, by.Company, client)
		}
	} else {
		p, err = s.begin(ctx, by.Company, client, from, to, q)
	}
	if err != nil {
		return Statement{}, err
	}
	st := Statement{
		ClientID: client, From: q.From, To: q.To, TimeZone: zone.String(), Currency: by.Currency, OpeningBalance: p.Opening, ClosingBalance: p.Closing,
	}
	limit := q.Records()
	sql := sqlStatementDown
	if q.Order == "asc" {
		sql = sqlStatementUp
	}
	st.Items, err = db.Collect(ctx, s.cfg.DB, "read statement of client", pgx.RowToStructByPos[StatementEntry], sql,
		by.Company, client, from, to, p.Version, p.Date, p.ID, limit+1)
	if err != nil {
		return Statement{}, err
	}
	if st.HasMore = len(st.Items) > limit; st.HasMore {
		st.Items = st.Items[:limit]
	}
	for i := range st.Items {
		p.pass(&st.Items[i], q.Order == "asc")
	}
	if st.HasMore {
		st.NextCursor = new(p.cursor())
	}
	return st, nil
}

// pass sets the balance of the next entry and goes behind it.
func (p *statementPlace) pass(e *StatementEntry, asc bool) {
	if asc {
		p.Balance += e.Amount
		e.Balance = p.Balance
	} else {
		e.Balance = p.Balance
		p.Balance -= e.Amount
	}
	p.Date, p.ID = e.Date, e.ID
}

const (
	statementEntries = `id, occurred_at, kind, charged, paid, paid - charged, 0::BIGINT, order_id, sale_id, number, payment_id, return_id, other_id, created_at
FROM client_ledger WHERE company_id = $1 AND client_id = $2 AND occurred_at >= $3 AND occurred_at < $4 AND client_version <= $5 AND `

	sqlStatementUp   = `SELECT ` + statementEntries + `(occurred_at, id) > ($6, $7) ORDER BY occurred_at, id LIMIT $8`
	sqlStatementDown = `SELECT ` + statementEntries + `(occurred_at, id) < ($6, $7) ORDER BY occurred_at DESC, id DESC LIMIT $8`

	// Balances are those of the client less what came later: periods that people look at are mostly the last ones.
	sqlSumLedger = `SELECT c.balance, c.version, l.entries, l.since, l.after FROM clients c CROSS JOIN (
  SELECT count(*) AS entries, COALESCE(sum(paid - charged) FILTER (WHERE occurred_at >= $4), 0)::BIGINT AS since,
    COALESCE(sum(paid - charged) FILTER (WHERE occurred_at >= $5), 0)::BIGINT AS after
  FROM client_ledger WHERE company_id = $1 AND client_id = $2 AND occurred_at >= $3
) l WHERE c.company_id = $1 AND c.id = $2`
)

var errStatementTooExpensive = apierr.TooExpensive(list.TooExpensive, 5, "the statement takes too long, because many entries have to be summed: "+
	"ask for days that are nearer to now, or for all by leaving out from and to")

// begin returns the place in front of the first entry.
func (s *Service) begin(ctx context.Context, company tenant.ID, client uuid.UUID, from, to time.Time, q StatementQuery) (statementPlace, error) {
	p := statementPlace{Query: q.key(client), Date: jsontype.At(end), ID: uuid.Max}
	// What is summed begins with the period; where nothing bounds it, nothing is summed.
	since := slices.MinFunc(slices.DeleteFunc([]time.Time{from, to}, func(at time.Time) bool { return at.Equal(beginning) }), time.Time.Compare)
	var entries int64
	var balance, sinceFrom, afterTo money.Amount
	err := s.cfg.Lists.Sum(ctx, company, []any{client, from, to}, func(ctx context.Context, limit time.Duration) error {
		return s.cfg.DB.ReadSnapshot(ctx, limit, func(tx db.Querier) error {
			return tx.QueryRow(ctx, sqlSumLedger, company, client, since, from, to).Scan(&balance, &p.Version, &entries, &sinceFrom, &afterTo)
		})
	})
	switch {
	case db.IsNoRows(err):
		return p, apierr.NotFound("CLIENT", client.String())
	case errors.Is(err, db.ErrTooLong), apierr.Is(err, list.TooExpensive):
		return p, errStatementTooExpensive
	case err != nil:
		return p, fmt.Errorf("sum ledger of client: %w", err)
	}
	list.ChargePassing(entries)
	if p.Closing = balance - afterTo; !from.Equal(beginning) {
		p.Opening = balance - sinceFrom
	}
	if p.Balance = p.Closing; q.Order == "asc" {
		p.Balance, p.Date, p.ID = p.Opening, jsontype.At(beginning), uuid.Nil
	}
	return p, nil
}
