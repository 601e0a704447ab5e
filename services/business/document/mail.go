package document

import (
	"context"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Letter is a document as a mail. It is written before the transaction that queues it: a logo is stored elsewhere, and a document takes
// time.
type Letter struct {
	To string
	ownermail.Notice
}

// Address returns where a document is mailed to: the address that was asked for, or else the one that is known. lacks says why none is known,
// for the 400 for email.
func Address(asked, known *string, lacks string) (string, error) {
	for _, address := range []*string{asked, known} {
		if to := record.OrZero(address); to != "" {
			return to, nil
		}
	}
	return "", apierr.InvalidField("email", apierr.Required, "is required, as %s", lacks)
}

// Queue queues the mail in the transaction of a request.
func (l Letter) Queue(ctx context.Context, tx *db.Tx, by access.Caller) error {
	return ownermail.AddDocument(ctx, tx, by, l.To, l.Notice)
}
