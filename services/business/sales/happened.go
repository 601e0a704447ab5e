package sales

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// takes reports whether what happened at a time, nil = now, comes late for the shift: it was closed meanwhile. What did not happen in the
// shift is refused.
func (s *Shift) takes(field string, at *jsontype.Time) (late bool, err error) {
	switch {
	case at != nil && at.Std().Before(s.OpenedAt.Std()):
		return false, apierr.InvalidField(field, apierr.Min, "must not be before %s, when the shift was opened", s.OpenedAt)
	case s.Status == statusOpen:
		return false, nil
	case at == nil || at.Std().After(s.ClosedAt.Std()):
		return false, closed(s.ID)
	}
	return true, nil
}

// now is the time of a change of the locked shift: behind all that it shows, also where another node's clock is ahead.
func (s *Shift) now(tx *db.Tx) jsontype.Time {
	at := jsontype.At(tx.Now())
	if s.UpdatedAt.Std().After(at.Std()) {
		return s.UpdatedAt
	}
	return at
}

// sqlSelectLast ignores what is NULL, because there is none.
const sqlSelectLast = `SELECT GREATEST((SELECT max(sold_at) FROM sales WHERE company_id = $1 AND shift_id = $2), (SELECT max(occurred_at) FROM cash_movements WHERE company_id = $1 AND shift_id = $2))`

// closes is when a locked shift was closed: nil = now. Nothing in it happened later.
func (s *Shift) closes(ctx context.Context, tx *db.Tx, by access.Caller, at *jsontype.Time) (jsontype.Time, error) {
	at, err := trade.Happened(by, "closedAt", at, tx.Now())
	if err != nil || at == nil {
		return s.now(tx), err
	}
	last, err := selectLast(ctx, tx, by.Company, s.ID)
	if err != nil {
		return *at, err
	}
	if last == nil || last.Before(s.OpenedAt.Std()) {
		last = new(s.OpenedAt.Std())
	}
	if at.Std().Before(*last) {
		return *at, apierr.InvalidField("closedAt", apierr.Min, "must not be before %s, the time of the last sale, refund or cash movement of the shift, or of its opening", jsontype.At(*last))
	}
	return *at, nil
}

func selectLast(ctx context.Context, tx *db.Tx, company tenant.ID, shift uuid.UUID) (last *time.Time, err error) {
	if err := tx.QueryRow(ctx, sqlSelectLast, company, shift).Scan(&last); err != nil {
		return nil, fmt.Errorf("select last document of shift: %w", err)
	}
	return last, nil
}
