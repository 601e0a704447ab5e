package clients

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// MergeInput is the body of a merge.
type MergeInput struct {
	IntoID uuid.UUID `json:"intoId" required:"true" format:"uuid" doc:"client that stays"`
}

// SchemaName implements [jsontype.Named].
func (MergeInput) SchemaName() string { return "ClientMerge" }

// Bounds of a client that others are merged into: their addresses in a change, and what it can hold.
const (
	maxMerged = 1000
	maxTags   = 50
)

// Merge makes a client the same as another one: balance, points and what the other lacks go there at once, documents follow by a job. From
// then on the client can only be read, and what names it means the other one. See docs/reference/rules.md#merged-clients.
//
// Errors: 404 for either client; 409 CLIENT_MERGED, CLIENT_ANONYMIZED, CLIENT_ARCHIVED, CLIENT_MERGE_LIMIT_REACHED.
func (s *Service) Merge(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in MergeInput) (job.Record, error) {
	if in.IntoID == id {
		return job.Record{}, apierr.InvalidField("intoId", apierr.Conflict, "must be another client than the one in the path")
	}
	admission, err := job.Admit(ctx, tx, s.cfg.DB, by.Company)
	if err != nil {
		return job.Record{}, err
	}
	tx.ReadsMore()
	if err := lockMerged(ctx, tx, by.Company, id); err != nil {
		return job.Record{}, err
	}
	from, into, err := lockPair(ctx, tx, by, id, in.IntoID)
	if err != nil {
		return job.Record{}, err
	}
	if err := checkMerge(ctx, tx, &from, &into); err != nil {
		return job.Record{}, err
	}
	balance, points := from.Balance, from.Points
	before, other := table.Snapshot(from), table.Snapshot(into)
	into.absorb(&from)
	into.Balance, into.Points = into.Balance+balance, into.Points+points
	from.Status, from.MergedIntoID, from.Balance, from.Points = StatusArchived, &into.ID, 0, 0
	handOver(tx, &from, &into)
	if err := table.Store(ctx, tx, by, before, &from, merged); err != nil { // first: its external id becomes free
		return job.Record{}, err
	}
	if err := table.Store(ctx, tx, by, other, &into, updated); err != nil {
		return job.Record{}, err
	}
	at := jsontype.At(tx.Now())
	for _, side := range []struct {
		id, other uuid.UUID
		sign      int64
	}{{from.ID, into.ID, -1}, {into.ID, from.ID, 1}} {
		enter(tx, sqlEnterMerge, by.Company, side.id, trade.LedgerEntry{Kind: trade.LedgerMerge, At: at, Paid: balance * money.Amount(side.sign), OtherID: &side.other})
		if points != 0 {
			PointsEntry{ID: tx.NewID(), Delta: points * side.sign, Reason: trade.PointsMerged, CreatedAt: at}.add(tx, sqlMergePoints, by.Company, side.id, false, db.ErrStale)
		}
	}
	m := record.New(tx.Now())
	tx.Queue(sqlMoveDefault, by.Company, from.ID, into.ID, m.EvPos, at)
	clearDefault(tx, by.Company, from.ID)
	tx.Queue(sqlRepoint, by.Company, from.ID, into.ID, m.EvPos, at)
	return job.Start(ctx, tx, by, admission, mergeJob, job.Options{Input: mergeOrder{From: from.ID}})
}

var (
	// Clients that were merged into one that is merged now are the same as what that one is.
	sqlRepoint = clients.Update(`SET merged_into_id = $3, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5
WHERE company_id = $1 AND merged_into_id = $2`)

	// The default address stays one where the other client has none; the other addresses follow by the job.
	sqlMoveDefault = clientAddresses.Update(`SET client_id = $3, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4), updated_at = $5
WHERE company_id = $1 AND client_id = $2 AND is_default
  AND NOT EXISTS (SELECT 1 FROM client_addresses AS o WHERE o.company_id = $1 AND o.client_id = $3 AND o.is_default)`)
)

// Amounts of a merged client lock it before the one that it is now; whoever changes both does so in the same order.
const sqlLockMerged = `SELECT id FROM clients WHERE company_id = $1 AND merged_into_id = $2 ORDER BY id FOR UPDATE`

// lockMerged locks the clients that were merged into one, before that one is locked.
func lockMerged(ctx context.Context, tx *db.Tx, company tenant.ID, id uuid.UUID) error {
	if _, err := tx.Exec(ctx, sqlLockMerged, company, id); err != nil {
		return fmt.Errorf("lock merged clients: %w", err)
	}
	return nil
}

// lockPair locks both clients, in the order of their ids: of two merges that concern the same clients, one waits for the other.
func lockPair(ctx context.Context, tx *db.Tx, by access.Caller, id, intoID uuid.UUID) (from, into Client, err error) {
	lock := func(c *Client, by access.Caller, id uuid.UUID) func() error {
		return func() (err error) { *c, err = table.Lock(ctx, tx, by, id); return err }
	}
	order := []func() error{lock(&from, by, id), func() error {
		err := lock(&into, by.Unconditional(), intoID)()
		if apierr.Is(err, "CLIENT_NOT_FOUND") {
			return apierr.ReferenceNotFound("CLIENT", "intoId", intoID.String())
		}
		return err
	}}
	if bytes.Compare(id[:], intoID[:]) > 0 {
		slices.Reverse(order)
	}
	for _, lock := range order {
		if err := lock(); err != nil {
			return from, into, err
		}
	}
	return from, into, nil
}

const sqlCountMerged = `SELECT count(*) FROM clients WHERE company_id = $1 AND merged_into_id = ANY($2::UUID[])`

// checkMerge returns a 409 if a state, or a bound, forbids the merge.
func checkMerge(ctx context.Context, tx *db.Tx, from, into *Client) error {
	switch {
	case from.MergedIntoID != nil:
		return document.Merged(*from.MergedIntoID)
	case into.MergedIntoID != nil:
		return document.Merged(*into.MergedIntoID).With("field", "intoId").With("id", into.ID)
	case from.AnonymizedAt != nil || into.AnonymizedAt != nil:
		return errAnonymized
	case into.Status == StatusArchived:
		return document.CheckClient(&trade.Client{Archived: true}, "intoId", &into.ID)
	case from.Points > 0 && into.Points > maxPoints-from.Points:
		return apierr.StateConflict("LOYALTY_POINTS_OUT_OF_RANGE", "the clients have %d and %d points, and one can have at most %d", from.Points, into.Points, int64(maxPoints)).
			With("points", into.Points)
	}
	if n := len(union(into.AttachmentFileIDs, from.AttachmentFileIDs)); n > fileuse.MaxAttached {
		return apierr.StateConflict("CLIENT_MERGE_LIMIT_REACHED", "the clients have %d attachments together, and one can have at most %d; remove some first", n, fileuse.MaxAttached).
			With("limit", fileuse.MaxAttached).With("field", "attachmentFileIds")
	}
	var n int
	if err := tx.QueryRow(ctx, sqlCountMerged, from.CompanyID, []uuid.UUID{from.ID, into.ID}).Scan(&n); err != nil {
		return fmt.Errorf("count merged clients: %w", err)
	}
	if n >= maxMerged {
		return apierr.StateConflict("CLIENT_MERGE_LIMIT_REACHED", "%d clients were merged into these two, which is the most that one can be", n).With("limit", maxMerged)
	}
	return nil
}

// handOver gives the attachments of a client to the one that it is merged into: a merged client cannot be changed, so that nobody could
// remove them there.
func handOver(tx *db.Tx, from, into *Client) {
	own, given := into.Attached, from.Attached
	into.AttachmentFileIDs, from.AttachmentFileIDs = union(own.AttachmentFileIDs, given.AttachmentFileIDs), nil
	into.Keep(tx, into.CompanyID, usedByClient, into.ID, own)
	from.Keep(tx, from.CompanyID, usedByClient, from.ID, given)
}

// union are the ids of a, and those of b that a has not.
func union(a, b []uuid.UUID) []uuid.UUID {
	all := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// absorb takes over what the client lacks and the other one has. The other one gives up its external id if that is taken over.
func (c *Client) absorb(o *Client) {
	for _, f := range []struct{ to, from **string }{
		{&c.FirstName, &o.FirstName},
		{&c.LastName, &o.LastName},
		{&c.MiddleName, &o.MiddleName},
		{&c.CompanyName, &o.CompanyName},
		{&c.Position, &o.Position},
		{&c.Phone, &o.Phone},
		{&c.Email, &o.Email},
		{&c.INN, &o.INN},
		{&c.KPP, &o.KPP},
		{&c.TelegramChatID, &o.TelegramChatID},
		{&c.WhatsappPhone, &o.WhatsappPhone},
		{&c.LegalAddress, &o.LegalAddress},
		{&c.BankDetails, &o.BankDetails},
		{&c.Note, &o.Note},
		{&c.ContractNumber, &o.ContractNumber},
	} {
		fill(f.to, *f.from)
	}
	fill(&c.GroupID, o.GroupID)
	fill(&c.PriceListID, o.PriceListID)
	fill(&c.AssignedToID, o.AssignedToID)
	fill(&c.Birthday, o.Birthday)
	fill(&c.PaymentTermsDays, o.PaymentTermsDays)
	fill(&c.SLAHours, o.SLAHours)
	c.Tags = slices.Concat(c.Tags, o.Tags)
	c.Normalise()
	c.Tags = c.Tags[:min(len(c.Tags), maxTags)]
	if c.ExternalID == nil && o.ExternalID != nil {
		c.Source, c.ExternalID, o.Source, o.ExternalID = o.Source, o.ExternalID, nil, nil
	}
	if meta := maps.Clone(o.Metadata); len(meta) > 0 {
		maps.Copy(meta, c.Metadata)
		if len(meta) <= record.MaxMetadataKeys {
			c.Metadata = meta
		}
	}
}

// fill sets a field that has no value.
func fill[T any](to **T, value *T) {
	if *to == nil {
		*to = value
	}
}

// keepExternal leaves the external id of a client as it is if it would be set to that of one that was merged into it: what finds the
// client by that id has its own.
func keepExternal(ctx context.Context, tx *db.Tx, company tenant.ID, before, c *Client) error {
	if c.ExternalID == nil || record.Same(before.ExternalID, c.ExternalID) && record.Same(before.Source, c.Source) {
		return nil
	}
	other, err := table.FindExternal(ctx, tx, company, record.OrZero(c.Source), *c.ExternalID)
	if err != nil || other == nil || *other == c.ID {
		return err
	}
	if into, err := mergedInto(ctx, tx, company, *other); err != nil || into != c.ID {
		return err
	}
	c.Source, c.ExternalID = before.Source, before.ExternalID
	return nil
}

const sqlSelectNow = `SELECT ` + sqlNow

// mergedInto returns the client that a client is now.
func mergedInto(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID) (now uuid.UUID, err error) {
	if err := q.QueryRow(ctx, sqlSelectNow, company, id).Scan(&now); err != nil {
		return now, fmt.Errorf("read merged client: %w", err)
	}
	return now, nil
}

// findExternal finds the client with an external id, or the one that it was merged into.
func findExternal(ctx context.Context, q db.Querier, company tenant.ID, source, externalID string) (*uuid.UUID, error) {
	id, err := table.FindExternal(ctx, q, company, source, externalID)
	if err != nil || id == nil {
		return nil, err
	}
	now, err := mergedInto(ctx, q, company, *id)
	return &now, err
}
