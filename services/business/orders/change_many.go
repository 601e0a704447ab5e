package orders

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// BatchChange is what an item of a batch does to an order: it assigns it, moves it to another status, or both.
type BatchChange struct {
	OrderID      uuid.UUID         `json:"orderId" required:"true" format:"uuid"`
	Status       string            `json:"status,omitempty" enum:"new,confirmed,in_progress,ready,completed,cancelled" doc:"the status to move to, as by moveOrder"`
	Reason       *string           `json:"reason,omitempty" maxLength:"1000" doc:"why the order is cancelled; of a cancellation only"`
	AssignedToID jsontype.IDOrNull `json:"assignedToId,omitempty" doc:"id of a user, or the text null for nobody"`
}

// changeOne makes the change of an item.
func (s *Service) changeOne(ctx context.Context, tx *db.Tx, by access.Caller, in BatchChange) (o Order, err error) {
	if in.Status == "" && !in.AssignedToID.Sent() {
		return o, apierr.InvalidField("status", apierr.Required, "is required, or assignedToId: an item changes something")
	}
	if in.AssignedToID.Sent() {
		to := record.PatchOf(Fields{Details: Details{AssignedToID: in.AssignedToID.ID()}}, "assignedToId")
		if o, err = s.Update(ctx, tx, by, in.OrderID, to); err != nil {
			return o, err
		}
	}
	if in.Status != "" {
		o, err = s.Move(ctx, tx, by, in.OrderID, in.Status, MoveInput{Reason: in.Reason})
	}
	return o, err
}
