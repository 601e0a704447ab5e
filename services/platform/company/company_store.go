package company

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const companyComponents = db.Table("company_components")

var (
	sqlInsertCompany = companies.Insert(`(id, name, search_text, status, plan, is_test, cell, home_region, currency, country_prefix,
  stock_policy, accrual_percent_bp, time_zone, locale, max_in_flight, version, ev_pos, created_at, updated_at, tax_mode, tax_rounding, backdate_days,
  booking_url, booking_change_minutes, booking_mails, booking_reminders,
  document_name, document_address, document_contact, document_tax_id, document_bank, document_footer, document_paper, document_logo_id, document_mail, mail_reply_to)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
  $27, $28, $29, $30, $31, $32, $33, $34, $35, $36)`)

	sqlUpdateCompany = companies.Update(`SET name = $3, search_text = $4, status = $5, plan = $6, home_region = $7, currency = $8, country_prefix = $9,
  stock_policy = $10, accrual_percent_bp = $11, time_zone = $12, locale = $13, max_in_flight = $14, version = version + 1, ev_pos = $15,
  updated_at = $16, archived_at = $17, tax_mode = $18, tax_rounding = $19, backdate_days = $20,
  booking_url = $21, booking_change_minutes = $22, booking_mails = $23, booking_reminders = $24,
  document_name = $25, document_address = $26, document_contact = $27, document_tax_id = $28, document_bank = $29, document_footer = $30, document_paper = $31, document_logo_id = $32, document_mail = $33, mail_reply_to = $34
WHERE id = $1 AND version = $2`)

	sqlUpsertComponents = companyComponents.Insert(`(company_id, component, enabled, updated_at)
SELECT $1, u.component, $3, $4 FROM unnest($2::TEXT[]) AS u(component)
ON CONFLICT (company_id, component) DO UPDATE SET enabled = excluded.enabled, updated_at = excluded.updated_at`)
)

var (
	companyPlan = record.PlanOf[Company]()

	sqlSelectCompanyColumns = "SELECT " + companyPlan.SelectList("c.") + `,
  ARRAY(SELECT k.component FROM company_components AS k WHERE k.company_id = c.id AND k.enabled ORDER BY k.component) AS components
FROM companies AS c`
	sqlSelectCompany = sqlSelectCompanyColumns + ` WHERE c.id = $1`
	// sqlSelectComponents returns one row per existing company.
	sqlSelectComponents = `SELECT c.id, ARRAY(SELECT k.component FROM company_components AS k WHERE k.company_id = c.id AND k.enabled)
FROM companies AS c WHERE c.id = ANY($1::UUID[])`
	sqlSelectIDs = `SELECT id FROM companies WHERE id > $1 ORDER BY id LIMIT 200`
)

// scanCompany keeps the enabled components. Components that are always on may have no row.
func scanCompany(row pgx.CollectableRow) (c Company, err error) {
	err = row.Scan(append(companyPlan.Targets(&c), &c.Components)...)
	return c, err
}

func getCompany(ctx context.Context, q db.Querier, id tenant.ID) (Company, error) {
	c, err := one(ctx, q, scanCompany, sqlSelectCompany, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, noCompany(id)
	}
	return c, err
}

func noCompany(id tenant.ID) error {
	return apierr.New(http.StatusNotFound, "COMPANY_NOT_FOUND", fmt.Sprintf("no company with id %s", id))
}

// one reads exactly one row; pgx.ErrNoRows when there is none.
func one[T any](ctx context.Context, q db.Querier, scan pgx.RowToFunc[T], sql string, args ...any) (v T, err error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return v, err
	}
	return pgx.CollectExactlyOneRow(rows, scan)
}

// all reads the records of a list without pages, selected with the columns of their plan.
func all[T any](ctx context.Context, q db.Querier, sql string, args ...any) ([]T, error) {
	return db.Collect(ctx, q, "select records of a company", func(row pgx.CollectableRow) (v T, err error) {
		err = row.Scan(record.PlanOf[T]().Targets(&v)...)
		return v, err
	}, sql, args...)
}

func selectIDs(ctx context.Context, q db.Querier, after tenant.ID) ([]tenant.ID, error) {
	return db.Collect(ctx, q, "select companies", pgx.RowTo[tenant.ID], sqlSelectIDs, after)
}

func searchText(name string) string { return list.SearchText([]string{strings.TrimSpace(name)}) }

func insertCompany(tx *db.Tx, c Company) {
	tx.Queue(sqlInsertCompany, c.ID, c.Name, searchText(c.Name), c.Status, c.Plan, c.IsTest, c.Cell, c.HomeRegion, c.Currency, c.CountryPrefix,
		c.StockPolicy, c.AccrualPercent, c.TimeZone, c.Locale, c.MaxInFlight, c.Version, c.EvPos, c.CreatedAt, c.UpdatedAt, c.TaxMode, c.TaxRounding, c.BackdateDays,
		c.BookingURL, c.BookingChangeMinutes, c.BookingMails, c.BookingReminders,
		c.DocumentName, c.DocumentAddress, c.DocumentContact, c.DocumentTaxID, c.DocumentBank, c.DocumentFooter, c.DocumentPaper, c.DocumentLogoID, c.DocumentMail, c.MailReplyTo).
		OnConstraint("companies_pkey", apierr.StateConflict("COMPANY_EXISTS", "there is a company with id %s already", c.ID))
}

// updateCompany stores the next version of a company that this transaction has read.
func updateCompany(tx *db.Tx, c Company) {
	tx.Queue(sqlUpdateCompany, c.ID, c.Version-1, c.Name, searchText(c.Name), c.Status, c.Plan, c.HomeRegion, c.Currency, c.CountryPrefix,
		c.StockPolicy, c.AccrualPercent, c.TimeZone, c.Locale, c.MaxInFlight, c.EvPos, c.UpdatedAt, c.ArchivedAt, c.TaxMode, c.TaxRounding, c.BackdateDays,
		c.BookingURL, c.BookingChangeMinutes, c.BookingMails, c.BookingReminders,
		c.DocumentName, c.DocumentAddress, c.DocumentContact, c.DocumentTaxID, c.DocumentBank, c.DocumentFooter, c.DocumentPaper, c.DocumentLogoID, c.DocumentMail, c.MailReplyTo).Expect(1, db.ErrStale)
}

const sqlSelectEnabled = `SELECT company_id, component FROM company_components WHERE company_id = ANY($1::UUID[]) AND enabled`

// selectEnabled reads the enabled components of companies.
func selectEnabled(ctx context.Context, q db.Querier, companies []tenant.ID) (map[tenant.ID][]string, error) {
	rows, err := q.Query(ctx, sqlSelectEnabled, companies)
	if err != nil {
		return nil, fmt.Errorf("select components of companies: %w", err)
	}
	enabled := map[tenant.ID][]string{}
	var id tenant.ID
	var alias string
	_, err = pgx.ForEachRow(rows, []any{&id, &alias}, func() error {
		enabled[id] = append(enabled[id], alias)
		return nil
	})
	return enabled, err
}

func upsertComponents(tx *db.Tx, c Company, aliases []string, enabled bool) {
	tx.Queue(sqlUpsertComponents, c.ID, aliases, enabled, tx.Now())
}

const sqlSelectChanged = `SELECT c.id, GREATEST(c.updated_at, COALESCE((SELECT max(m.updated_at) FROM company_components AS m WHERE m.company_id = c.id), c.updated_at))
FROM companies AS c WHERE c.id = ANY($1::UUID[])`

// ChangedAt reads when each company, or one of its components, was changed last. Companies that do not exist are left out.
func ChangedAt(ctx context.Context, q db.Querier, ids []uuid.UUID) (map[uuid.UUID]time.Time, error) {
	return db.Map[uuid.UUID, time.Time](ctx, q, "read last changes of companies", sqlSelectChanged, ids)
}
