package fileuse

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// MaxAttached is how many files a record can have.
const MaxAttached = 20

const attached = "attachmentFileIds"

// Attached are the files of a record such as a client, which embeds it. Each is named once.
type Attached struct {
	AttachmentFileIDs []uuid.UUID `json:"attachmentFileIds" format:"uuid" maxItems:"20" doc:"files in their order, images and documents"`
}

// LookUp adds the new ones to the references that are looked up: 400 CONFLICT for one that is named twice.
func (a Attached) LookUp(refs *reference.Set, before Attached) error {
	Check(refs, attached, before.AttachmentFileIDs, a.AttachmentFileIDs)
	return Repeated(attached, a.AttachmentFileIDs)
}

// Keep queues what has changed in the references of the record.
func (a Attached) Keep(tx *db.Tx, company tenant.ID, entity string, record uuid.UUID, before Attached) {
	Record(tx, company, entity, attached, record, before.AttachmentFileIDs, a.AttachmentFileIDs)
}

// Forget queues that the record has none of them any more, and that those to which nothing else refers are removed at once, within minutes.
func (a Attached) Forget(tx *db.Tx, company tenant.ID, entity string, record uuid.UUID) {
	if len(a.AttachmentFileIDs) > 0 {
		tx.Queue(sqlDeleteUses, company, entity, record, a.AttachmentFileIDs)
		tx.Queue(sqlRelease, company, without(a.AttachmentFileIDs, nil), tx.Now())
	}
}
