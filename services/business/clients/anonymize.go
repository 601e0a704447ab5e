package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// anonymousName is the name of every anonymized client.
const anonymousName = "Anonymized client"

var (
	sqlDeleteAddresses = clientAddresses.Delete(`WHERE company_id = $1 AND client_id = $2`)
	sqlDeleteAssets    = clientAssets.Delete(`WHERE company_id = $1 AND client_id = $2`)

	sqlClearInteractions = clientInteractions.Update(`SET subject = NULL, body = NULL, search_text = '', version = version + 1,
ev_pos = GREATEST(ev_pos + 1, $3), updated_at = $4 WHERE company_id = $1 AND client_id = $2`)
)

// Anonymize removes the personal data of a client for good; see docs/reference/rules.md#anonymization. Repeating it changes
// nothing.
func (s *Service) Anonymize(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Client, error) {
	return table.Change(ctx, tx, by, id, func(before Client, c *Client) error {
		if before.AnonymizedAt != nil {
			return nil
		}
		at := jsontype.At(tx.Now())
		c.anonymize(at)
		tx.Queue(sqlDeleteAddresses, by.Company, id)
		tx.Queue(sqlDeleteAssets, by.Company, id)
		tx.Queue(sqlClearInteractions, by.Company, id, record.New(tx.Now()).EvPos, at)
		return nil
	}, updated)
}

// anonymize keeps the terms of trade and the standing of the client, and nothing that tells who the client is.
func (c *Client) anonymize(at jsontype.Time) {
	c.Fields = Fields{
		Card: Card{
			Kind: c.Kind, DisplayName: anonymousName, GroupID: c.GroupID, PriceListID: c.PriceListID, CreditLimit: c.CreditLimit,
			AssignedToID: c.AssignedToID,
		},
		PaymentTermsDays: c.PaymentTermsDays, SLAHours: c.SLAHours,
	}
	c.ConsentAt, c.ConsentSource, c.AnonymizedAt = nil, nil, &at
}
