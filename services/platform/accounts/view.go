package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	maxViews     = 50   // of a user, over all lists
	maxShared    = 50   // of a list
	maxViewName  = 60   // characters
	maxViewQuery = 2000 // bytes
)

// ErrView means that there is no such view, or that it is another user's.
var ErrView = errors.New("there is no such view")

// View is a list of the console as somebody saved it. One that is shared is seen by everybody in the company; only who saved it
// changes it.
type View struct {
	ViewInput
	ID        uuid.UUID `json:"id"`
	Owner     Owner     `json:"-"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// ViewInput is what a user says of a view.
type ViewInput struct {
	List   string `json:"list"`  // such as orders
	Query  string `json:"query"` // of the address: filters, columns, order
	Name   string `json:"name"`
	Shared bool   `json:"shared"`
}

const consoleViews = db.Table("console_views")

const (
	viewColumns    = `company_id, user_id, id, list, query, name, shared, created_at, updated_at`
	sqlSelectViews = `SELECT ` + viewColumns + ` FROM console_views WHERE company_id = $1 AND list = $3 AND (user_id = $2 OR shared) ORDER BY id LIMIT 100`
	sqlSelectOwn   = `SELECT ` + viewColumns + ` FROM console_views WHERE company_id = $1 AND user_id = $2 ORDER BY id LIMIT 50`
	sqlLockView    = `SELECT ` + viewColumns + ` FROM console_views WHERE company_id = $1 AND user_id = $2 AND id = $3 FOR UPDATE`
	sqlCountOwn    = `SELECT count(*) FROM (SELECT 1 FROM console_views WHERE company_id = $1 AND user_id = $2 LIMIT 50) AS v`
	sqlCountShared = `SELECT count(*) FROM (SELECT 1 FROM console_views WHERE company_id = $1 AND list = $2 AND shared LIMIT 50) AS v`
)

var (
	sqlInsertView = consoleViews.Insert(`(` + viewColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)`)
	sqlUpdateView = consoleViews.Update(`SET name = $4, shared = $5, updated_at = $6 WHERE company_id = $1 AND user_id = $2 AND id = $3`)
	sqlDeleteView = consoleViews.Delete(`WHERE company_id = $1 AND user_id = $2 AND id = $3`)
)

// Views returns the views of a list that a user sees: the own ones and those that are shared, oldest first.
func (s *Service) Views(ctx context.Context, o Owner, list string) ([]View, error) {
	return selectViews(ctx, s.cfg.DB, sqlSelectViews, o.Company, o.User, list)
}

// OwnViews returns the views that a user saved, of all lists, oldest first.
func (s *Service) OwnViews(ctx context.Context, o Owner) ([]View, error) {
	return selectViews(ctx, s.cfg.DB, sqlSelectOwn, o.Company, o.User)
}

func selectViews(ctx context.Context, q db.Querier, sql string, args ...any) ([]View, error) {
	return db.Collect(ctx, q, "select views", func(row pgx.CollectableRow) (v View, err error) {
		err = row.Scan(&v.Owner.Company, &v.Owner.User, &v.ID, &v.List, &v.Query, &v.Name, &v.Shared, &v.CreatedAt, &v.UpdatedAt)
		return v, err
	}, sql, args...)
}

// SaveView stores a view of a user. A user may save 50, and 50 of a list may be shared.
func (s *Service) SaveView(ctx context.Context, tx *db.Tx, o Owner, in ViewInput) (View, error) {
	v := View{ID: record.NewID(), Owner: o, ViewInput: in, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
	if err := v.check(); err != nil {
		return v, err
	}
	if err := atMost(ctx, tx, maxViews, "name", "you have %d views already; delete one first", sqlCountOwn, o.Company, o.User); err != nil {
		return v, err
	}
	if err := v.mayBeShared(ctx, tx); err != nil {
		return v, err
	}
	tx.Queue(sqlInsertView, o.Company, o.User, v.ID, v.List, v.Query, v.Name, v.Shared, v.CreatedAt)
	return v, nil
}

// ChangeView sets the name of a view of the user, and whether it is shared. It returns what the view was, too.
func (s *Service) ChangeView(ctx context.Context, tx *db.Tx, o Owner, id uuid.UUID, name string, shared bool) (before, after View, err error) {
	if before, err = lockView(ctx, tx, o, id); err != nil {
		return before, after, err
	}
	after = before
	after.Name, after.Shared, after.UpdatedAt = name, shared, tx.Now()
	if err := after.check(); err != nil {
		return before, after, err
	}
	if !before.Shared {
		if err := after.mayBeShared(ctx, tx); err != nil {
			return before, after, err
		}
	}
	tx.Queue(sqlUpdateView, o.Company, o.User, id, after.Name, after.Shared, after.UpdatedAt)
	return before, after, nil
}

// DeleteView deletes a view of the user, and returns what it was.
func (s *Service) DeleteView(ctx context.Context, tx *db.Tx, o Owner, id uuid.UUID) (View, error) {
	before, err := lockView(ctx, tx, o, id)
	if err == nil {
		tx.Queue(sqlDeleteView, o.Company, o.User, id)
	}
	return before, err
}

func lockView(ctx context.Context, tx *db.Tx, o Owner, id uuid.UUID) (View, error) {
	found, err := selectViews(ctx, tx, sqlLockView, o.Company, o.User, id)
	if err == nil && len(found) == 0 {
		err = ErrView
	}
	if err != nil {
		return View{}, err
	}
	return found[0], nil
}

// check normalizes the name, and refuses what a view cannot hold.
func (v *View) check() error {
	v.Name = strings.TrimSpace(v.Name)
	var faults apierr.Fields
	switch n := utf8.RuneCountInString(v.Name); {
	case n == 0:
		faults.Add("name", apierr.Required, "is required: say what the view shows")
	case n > maxViewName:
		faults.Add("name", apierr.Conflict, "must have at most %d characters", maxViewName)
	case !utf8.ValidString(v.Name) || strings.ContainsFunc(v.Name, unicode.IsControl):
		faults.Add("name", apierr.Conflict, "must be text in one line")
	}
	if len(v.Query) > maxViewQuery || !utf8.ValidString(v.Query) || strings.ContainsFunc(v.Query, unicode.IsControl) {
		faults.Add("name", apierr.Conflict, "cannot be given to this list: its filters have more than %d bytes; remove some", maxViewQuery)
	}
	return faults.Err()
}

func (v *View) mayBeShared(ctx context.Context, tx *db.Tx) error {
	if !v.Shared {
		return nil
	}
	return atMost(ctx, tx, maxShared, "shared", "%d views of this list are shared already; keep it for yourself, or let somebody delete one", sqlCountShared, v.Owner.Company, v.List)
}

// atMost refuses one more than limit rows.
func atMost(ctx context.Context, tx *db.Tx, limit int, field, text, sql string, args ...any) error {
	n := 0
	if err := tx.QueryRow(ctx, sql, args...).Scan(&n); err != nil {
		return fmt.Errorf("count views: %w", err)
	}
	if n >= limit {
		return apierr.InvalidField(field, apierr.Conflict, text, limit)
	}
	return nil
}
