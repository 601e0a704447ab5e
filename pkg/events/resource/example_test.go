package resource_test

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// ticket is a record: a key, what clients write, what the platform maintains, and the version with its times.
type ticket struct {
	record.Key
	ticketFields
	Status string `json:"status" enum:"open,closed"`
	record.Meta
}

type ticketFields struct {
	Title string `json:"title" required:"true" maxLength:"100"`
}

// The table has the columns of the struct; TICKET is the entity of its error codes, such as TICKET_NOT_FOUND.
var tickets = resource.Of[ticket]("tickets", "TICKET")

var ticketClosed = event.New[ticket]("ticket.closed", "A ticket was closed.")

// A command: the record is locked, a missing one is 404 and another version than in If-Match 412, the rule compares and changes, what
// differs is stored, and the event is raised with it. If nothing differs, nothing is stored.
func ExampleTable_Change() {
	closeTicket := func(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (ticket, error) {
		return tickets.Change(ctx, tx, by, id, func(before ticket, v *ticket) error {
			if before.Title == "" {
				return apierr.New(http.StatusConflict, "TICKET_EMPTY", "a ticket without a title cannot be closed; give it one")
			}
			v.Status = "closed"
			return nil
		}, ticketClosed)
	}
	_ = closeTicket
}
