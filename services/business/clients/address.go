package clients

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// Address is a place of a client; see docs/reference/rules.md#clients.
type Address struct {
	record.Key
	Owner
	AddressFields
	record.Meta
}

// AddressFields are the fields that API clients set.
type AddressFields struct {
	Label      string   `json:"label" required:"true" minLength:"1" maxLength:"255" search:"text" doc:"short name, such as Office"`
	Text       string   `json:"text" db:"address" required:"true" minLength:"1" maxLength:"1000" search:"text" doc:"the address as it is written"`
	City       *string  `json:"city" maxLength:"255" search:"text"`
	PostalCode *string  `json:"postalCode" maxLength:"32" search:"text"`
	Lat        *float64 `json:"lat" minimum:"-90" maximum:"90" doc:"latitude in degrees"`
	Lng        *float64 `json:"lng" minimum:"-180" maximum:"180" doc:"longitude in degrees"`
	IsDefault  bool     `json:"isDefault" doc:"true makes the other addresses of the client no longer the default"`
}

// AddressFilter sorts addresses.
type AddressFilter struct {
	list.Params
	Sort string `query:"sort" enum:"label,createdAt"`
}

var (
	addresses    = partOf[Address]("client_addresses", "ADDRESS")
	addressItems = list.Of[Address, AddressFilter](clientAddresses)
)

// Addresses returns a page of the addresses of a client.
func (s *Service) Addresses(ctx context.Context, by access.Caller, client uuid.UUID, f AddressFilter) (*list.Page[Address], error) {
	return pageOf(ctx, s.cfg.DB, addressItems, by.Company, client, f)
}

// Address reads one address of a client.
func (s *Service) Address(ctx context.Context, by access.Caller, client, id uuid.UUID) (Address, error) {
	return addresses.get(ctx, s.cfg.DB, by.Company, client, id)
}

// CreateAddress adds an address to a client. A default address replaces the one before.
func (s *Service) CreateAddress(ctx context.Context, tx *db.Tx, by access.Caller, client uuid.UUID, in AddressFields) (Address, error) {
	if _, err := hold(ctx, tx, by.Company, client); err != nil {
		return Address{}, err
	}
	if in.IsDefault {
		clearDefault(tx, by.Company, client)
	}
	return addresses.Create(ctx, tx, by, Address{Owner: Owner{client}, AddressFields: in})
}

// UpdateAddress changes an address of a client.
func (s *Service) UpdateAddress(ctx context.Context, tx *db.Tx, by access.Caller, client, id uuid.UUID, in record.Patch[AddressFields]) (Address, error) {
	return addresses.change(ctx, tx, by, client, id, func(before Address, a *Address) error {
		in.Apply(&a.AddressFields)
		if a.IsDefault && !before.IsDefault {
			clearDefault(tx, by.Company, client)
		}
		return nil
	})
}

// DeleteAddress deletes an address of a client. Documents keep its label.
func (s *Service) DeleteAddress(ctx context.Context, tx *db.Tx, by access.Caller, client, id uuid.UUID) error {
	return addresses.remove(ctx, tx, by, client, id)
}

const clientAddresses = db.Table("client_addresses")

var sqlClearDefault = clientAddresses.Update(`SET is_default = FALSE, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $3), updated_at = $4
WHERE company_id = $1 AND client_id = $2 AND is_default`)

// clearDefault queues that the client has no default address. The client is locked.
func clearDefault(tx *db.Tx, company tenant.ID, client uuid.UUID) {
	m := record.New(tx.Now())
	tx.Queue(sqlClearDefault, company, client, m.EvPos, m.UpdatedAt)
}

const sqlSelectAddressLabel = `SELECT label FROM client_addresses WHERE company_id = $1 AND id = $2`

// AddressLabel reads the label of an address for a document; found is false if there is none.
func (s *Service) AddressLabel(ctx context.Context, q db.Querier, company tenant.ID, address uuid.UUID) (label string, found bool, err error) {
	err = q.QueryRow(ctx, sqlSelectAddressLabel, company, address).Scan(&label)
	if db.IsNoRows(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("select label of address: %w", err)
	}
	return label, true, nil
}
