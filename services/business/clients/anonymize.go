package clients

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
)

// anonymousName is the name of every anonymized client.
const anonymousName = "Anonymized client"

var (
	sqlDeleteAddresses = clientAddresses.Delete(`WHERE company_id = $1 AND client_id = ANY($2::UUID[])`)
	sqlDeleteAssets    = clientAssets.Delete(`WHERE company_id = $1 AND client_id = ANY($2::UUID[])`)

	sqlClearPointNotes = clientPoints.Update(`SET note = NULL WHERE company_id = $1 AND client_id = ANY($2::UUID[]) AND note IS NOT NULL`)

	sqlClearInteractions = clientInteractions.Update(`SET subject = NULL, body = NULL, search_text = '', version = version + 1,
ev_pos = GREATEST(ev_pos + 1, $3), updated_at = $4 WHERE company_id = $1 AND client_id = ANY($2::UUID[])`)
)

const sqlSelectMerged = `SELECT id FROM clients WHERE company_id = $1 AND merged_into_id = $2`

// Anonymize removes the personal data of a client for good, and of those that were merged into it; see
// docs/reference/rules.md#anonymization. Repeating it changes nothing.
func (s *Service) Anonymize(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Client, error) {
	tx.ReadsMore()
	if err := lockMerged(ctx, tx, by.Company, id); err != nil {
		return Client{}, err
	}
	return table.Change(ctx, tx, by, id, func(before Client, c *Client) error {
		switch {
		case before.MergedIntoID != nil:
			return document.Merged(*before.MergedIntoID)
		case before.AnonymizedAt != nil:
			return nil
		}
		at := jsontype.At(tx.Now())
		c.anonymize(tx, at)
		all, err := db.Collect(ctx, tx, "select merged clients", pgx.RowTo[uuid.UUID], sqlSelectMerged, by.Company, id)
		if err != nil {
			return err
		}
		for _, other := range all {
			_, err := table.Change(ctx, tx, by.Unconditional(), other, func(_ Client, c *Client) error { c.anonymize(tx, at); return nil })
			if err != nil {
				return err
			}
		}
		all = append(all, id)
		s.forget(tx, by.Company, all) // before the records are deleted that it goes by
		tx.Queue(sqlDeleteAddresses, by.Company, all)
		tx.Queue(sqlDeleteAssets, by.Company, all)
		tx.Queue(sqlClearPointNotes, by.Company, all)
		tx.Queue(sqlClearInteractions, by.Company, all, record.New(tx.Now()).EvPos, at)
		return nil
	}, updated)
}

// anonymize keeps the terms of trade and the standing of the client, and nothing that tells who the client is.
func (c *Client) anonymize(tx *db.Tx, at jsontype.Time) {
	c.Forget(tx, c.CompanyID, usedByClient, c.ID)
	c.Fields = Fields{
		Card: Card{
			Kind: c.Kind, DisplayName: anonymousName, GroupID: c.GroupID, PriceListID: c.PriceListID, CreditLimit: c.CreditLimit,
			AssignedToID: c.AssignedToID,
		},
		PaymentTermsDays: c.PaymentTermsDays, SLAHours: c.SLAHours,
	}
	c.ConsentAt, c.ConsentSource, c.AnonymizedAt = nil, nil, &at
}
