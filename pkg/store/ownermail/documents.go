package ownermail

import (
	"context"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// document begins the kinds of mails with a document, which people and integrations send by hand.
const document = Customer + "document."

// documentsADay is how many of them a company sends in 24 hours.
const documentsADay = 500

// documentKept is how long a document is worth sending.
const documentKept = 3 * 24 * time.Hour

// ErrTooMany is the 409 of a company that has sent as many documents as may be.
var ErrTooMany = apierr.StateConflict("MAIL_LIMIT_REACHED", "the company has sent %d documents by e-mail in 24 hours; send the others later", documentsADay)

const sqlCountDocuments = `SELECT count(*) FROM (SELECT 1 FROM notices WHERE company_id = $1 AND kind LIKE 'customer.document.%' AND created_at > $2 LIMIT $3) AS n`

// AddDocument stores a mail with a document for one address, in the transaction of what it is about. The kind of the notice is the name of
// the document.
func AddDocument(ctx context.Context, tx *db.Tx, by access.Caller, address string, n Notice) error {
	var sent int
	if err := tx.QueryRow(ctx, sqlCountDocuments, by.Company, tx.Now().Add(-24*time.Hour), documentsADay).Scan(&sent); err != nil {
		return wrap(n, err)
	}
	if sent >= documentsADay {
		return ErrTooMany
	}
	n.Kind, n.Since, n.Until = document+n.Kind, tx.Now(), tx.Now().Add(documentKept)
	return AddTo(ctx, tx, by.Company, address, n)
}
