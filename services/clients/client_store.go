package clients

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// The columns that a change may write come first, then those that only an insert writes, then record.Meta.
func (c *Client) targets() []any {
	return append([]any{
		&c.CompanyID, &c.ID, &c.Kind, &c.DisplayName, &c.FirstName, &c.LastName, &c.MiddleName, &c.CompanyName, &c.Position,
		&c.Phone, &c.Email, &c.TelegramChatID, &c.WhatsappPhone, &c.INN, &c.KPP, &c.LegalAddress, &c.BankDetails, &c.Note,
		&c.ContractNumber, &c.Tags, &c.Birthday, &c.Status, &c.GroupID, &c.PriceListID, &c.PaymentTermsDays, &c.CreditLimit,
		&c.SLAHours, &c.Consent, &c.ConsentAt, &c.ConsentSource, &c.AnonymizedAt, &c.AssignedToID,
		&c.CreatedByID, &c.Balance, &c.Points,
	}, c.Targets()...)
}

// values are the arguments of a write: company and id first, then what a change may write.
func (c *Client) values() []any {
	return []any{
		c.CompanyID, c.ID, c.Kind, c.DisplayName, c.FirstName, c.LastName, c.MiddleName, c.CompanyName, c.Position,
		c.Phone, c.Email, c.TelegramChatID, c.WhatsappPhone, c.INN, c.KPP, c.LegalAddress, c.BankDetails, c.Note,
		c.ContractNumber, c.Tags, c.Birthday, c.Status, c.GroupID, c.PriceListID, c.PaymentTermsDays, c.CreditLimit,
		c.SLAHours, c.Consent, c.ConsentAt, c.ConsentSource, c.AnonymizedAt, c.AssignedToID,
		c.searchText(), c.Version, c.EvPos, c.UpdatedAt,
	}
}

const sqlSelectClient = `SELECT company_id, id, kind, display_name, first_name, last_name, middle_name, company_name, "position",
phone, email, telegram_chat_id, whatsapp_phone, inn, kpp, legal_address, bank_details, note,
contract_number, tags, birthday, status, group_id, price_list_id, payment_terms_days, credit_limit,
sla_hours, marketing_consent, marketing_consent_at, marketing_consent_source, anonymized_at, assigned_to_id,
created_by_id, balance, points, version, ev_pos, created_at, updated_at
FROM clients WHERE company_id = $1 AND id = $2`

const sqlLockClient = sqlSelectClient + ` FOR UPDATE`

func selectClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (c Client, err error) {
	sql := sqlSelectClient
	if lock {
		sql = sqlLockClient
	}
	return record.One(q.QueryRow(ctx, sql, company, id), (*Client).targets, "CLIENT", id)
}

const sqlInsertClient = `INSERT INTO clients (company_id, id, kind, display_name, first_name, last_name, middle_name, company_name, "position",
phone, email, telegram_chat_id, whatsapp_phone, inn, kpp, legal_address, bank_details, note,
contract_number, tags, birthday, status, group_id, price_list_id, payment_terms_days, credit_limit,
sla_hours, marketing_consent, marketing_consent_at, marketing_consent_source, anonymized_at, assigned_to_id,
search_text, version, ev_pos, updated_at, created_at, created_by_id, balance, points)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, 0, 0)`

func insertClient(tx *db.Tx, c Client) {
	tx.Queue(sqlInsertClient, append(c.values(), c.CreatedAt, c.CreatedByID)...)
}

const sqlUpdateClient = `UPDATE clients SET kind = $3, display_name = $4, first_name = $5, last_name = $6, middle_name = $7, company_name = $8,
"position" = $9, phone = $10, email = $11, telegram_chat_id = $12, whatsapp_phone = $13, inn = $14, kpp = $15, legal_address = $16,
bank_details = $17, note = $18, contract_number = $19, tags = $20, birthday = $21, status = $22, group_id = $23, price_list_id = $24,
payment_terms_days = $25, credit_limit = $26, sla_hours = $27, marketing_consent = $28, marketing_consent_at = $29,
marketing_consent_source = $30, anonymized_at = $31, assigned_to_id = $32, search_text = $33, version = $34, ev_pos = $35, updated_at = $36
WHERE company_id = $1 AND id = $2 AND version = $34 - 1`

func updateClient(tx *db.Tx, c Client) {
	tx.Queue(sqlUpdateClient, c.values()...).Expect(1, db.ErrStale)
}

const sqlSelectKnown = `SELECT
EXISTS (SELECT 1 FROM client_groups g WHERE g.company_id = $1 AND g.id = $2),
EXISTS (SELECT 1 FROM price_lists p WHERE p.company_id = $1 AND p.id = $3)`

// selectKnown reports whether the group and the price list exist in the company.
func selectKnown(ctx context.Context, q db.Querier, company tenant.ID, groupID, priceListID *uuid.UUID) (group, priceList bool, err error) {
	if err = q.QueryRow(ctx, sqlSelectKnown, company, groupID, priceListID).Scan(&group, &priceList); err != nil {
		err = fmt.Errorf("look for group and price list: %w", err)
	}
	return group, priceList, err
}
