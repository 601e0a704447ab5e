package trade

import "github.com/google/uuid"

// Contact is the contact data of a lead, of which a client can be made.
type Contact struct {
	DisplayName  string
	Phone        *string
	Email        *string
	Note         *string
	AssignedToID *uuid.UUID
}

// DealFromLead is the data of a deal that a lead is converted to.
type DealFromLead struct {
	TypeID       *uuid.UUID // nil = the type for leads
	ClientID     uuid.UUID
	Name         *string
	Phone        *string
	Email        *string
	Source       string // also the alias of the lead source, if there is one
	Note         *string
	AssignedToID *uuid.UUID
}
