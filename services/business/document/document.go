// Package document reads what the documents of trade (orders, deals, sales) refer to: their items, their client with its prices,
// and the address. The rules of each document stay in its domain.
package document

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Catalog reads items that can be sold.
type Catalog interface {
	lineitem.Catalog
	// OrderItems reads the items of the refs. Unknown items are omitted.
	OrderItems(ctx context.Context, q db.Querier, company tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error)
}

// Clients reads the customers of documents.
type Clients interface {
	// DocumentClient reads a client; lock locks it until the transaction ends.
	DocumentClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (c trade.Client, found bool, err error)
}

// Matcher finds the customer of a document by what the document says of it.
type Matcher interface {
	// MatchClient returns the oldest active client with the phone number, otherwise with the e-mail address.
	MatchClient(ctx context.Context, q db.Querier, company tenant.ID, countryPrefix string, phone, email *string) (id uuid.UUID, found bool, err error)
}

// PriceLists reads the prices of price lists.
type PriceLists interface {
	// Prices returns the prices of those refs that are in the list.
	Prices(ctx context.Context, q db.Querier, company tenant.ID, list uuid.UUID, refs []trade.ItemRef) (map[trade.ItemRef]money.Amount, error)
}

// TaxRates returns the percentages of those ids that are tax rates which can be chosen.
type TaxRates func(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]money.Percent, error)

// Codes returns the look-ups that find out whether a field names an entry of a directory by its code that can be chosen, unless it did
// before: 400 with the codes there are.
type Codes func(company tenant.ID, field string, before, now *string) []batchloader.Read

// Addresses reads the addresses of clients.
type Addresses interface {
	AddressLabel(ctx context.Context, q db.Querier, company tenant.ID, address uuid.UUID) (label string, found bool, err error)
}

// Users reads the users of a company.
type Users interface {
	// UserNames returns the display names of those ids that are users of the company; "" for a user without a name.
	UserNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error)
	// KnownUsers returns those ids that are users of the company.
	KnownUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error)
}

// Sources are the domains whose records documents refer to. Where PriceLists or Addresses is nil, there are none.
type Sources struct {
	Catalog    Catalog
	Taxes      TaxRates
	Clients    Clients
	PriceLists PriceLists
	Addresses  Addresses
}

// References are what a document newly refers to. Of those in the Set only the existence is checked.
type References struct {
	reference.Set
	Items []trade.ItemRef
	Taxes []uuid.UUID // rates that lines name

	client      *uuid.UUID
	clientField string
	newClient   bool
	address     *uuid.UUID
}

// Client adds the client of the document, whose prices new items have even if the client stays the same. Add Items first.
func (r *References) Client(field string, before, now *uuid.UUID) {
	r.newClient = now != nil && !record.Same(before, now)
	if r.newClient || len(r.Items) > 0 {
		r.client, r.clientField = now, field
	}
}

// Address adds the address, if it is another one than before.
func (r *References) Address(before, now *uuid.UUID) {
	if !record.Same(before, now) {
		r.address = now
	}
}

// Found holds the records that a document newly refers to.
type Found struct {
	Items        map[trade.ItemRef]trade.Item
	Prices       map[trade.ItemRef]money.Amount // of the client's price list; nil = none
	Taxes        map[uuid.UUID]money.Percent    // of the rates that lines name; without those that do not exist
	Client       *trade.Client                  // nil unless the document has a new one
	AddressLabel *string
	references   References
}

// Load reads all references, and runs other reads, in one round trip unless the client has a price list. The first missing
// record, in the order client, address, Set, other reads, is returned as a 404. Unknown items are left out of Items.
func (s Sources) Load(ctx context.Context, q db.Querier, company tenant.ID, r References, others ...batchloader.Read) (Found, error) {
	out := Found{references: r}
	var reads []batchloader.Read
	if r.client != nil {
		reads = append(reads, func(ctx context.Context, q db.Querier) error { return s.readClient(ctx, q, company, r, &out) })
	}
	if r.address != nil {
		reads = append(reads, func(ctx context.Context, q db.Querier) error { return s.readAddress(ctx, q, company, *r.address, &out) })
	}
	reads = append(append(reads, r.Reads(company)...), others...)
	if len(r.Items) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			out.Items, err = s.Catalog.OrderItems(ctx, q, company, r.Items)
			return err
		})
	}
	if len(r.Taxes) > 0 {
		reads = append(reads, func(ctx context.Context, q db.Querier) (err error) {
			out.Taxes, err = s.Taxes(ctx, q, company, r.Taxes)
			return err
		})
	}
	return out, batchloader.Load(ctx, q, reads...)
}

// Match returns the client of a document without one that asks for it: the active client with the phone number, otherwise with the e-mail
// address; nil if there is none. See docs/reference/rules.md#client-matching.
func Match(ctx context.Context, q db.Querier, clients Matcher, by access.Caller, asked bool, client *uuid.UUID, phone, email *string) (*uuid.UUID, error) {
	if !asked || client != nil || phone == nil && email == nil {
		return client, nil
	}
	id, found, err := clients.MatchClient(ctx, q, by.Company, by.CountryPrefix, phone, email)
	if err != nil || !found {
		return nil, err
	}
	return &id, nil
}

func (s Sources) readClient(ctx context.Context, q db.Querier, company tenant.ID, r References, out *Found) error {
	c, found, err := s.Clients.DocumentClient(ctx, q, company, *r.client, false)
	if err := reference.Missing(err, found, "CLIENT", r.clientField, *r.client); err != nil {
		return err
	}
	if r.newClient {
		out.Client = &c
	}
	if c.PriceListID != nil && s.PriceLists != nil && len(r.Items) > 0 {
		out.Prices, err = s.PriceLists.Prices(ctx, q, company, *c.PriceListID, r.Items)
	}
	return err
}

func (s Sources) readAddress(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, out *Found) (err error) {
	found, label := false, ""
	if s.Addresses != nil {
		label, found, err = s.Addresses.AddressLabel(ctx, q, company, id)
		out.AddressLabel = &label
	}
	return reference.Missing(err, found, "ADDRESS", "addressId", id)
}

// CheckClient returns a 409 if the document has a new client that is archived.
func (f *Found) CheckClient() error {
	return CheckClient(f.Client, f.references.clientField, f.references.client)
}

// CheckClient returns a 409 if the client that a field newly refers to was merged or is archived; nil = none.
func CheckClient(c *trade.Client, field string, id *uuid.UUID) error {
	if c == nil || !c.Archived {
		return nil
	}
	if c.MergedIntoID != nil {
		return Merged(*c.MergedIntoID).With("field", field).With("id", id)
	}
	return apierr.StateConflict("CLIENT_ARCHIVED", "the client is archived; restore the client or choose another").With("field", field).With("id", id)
}

// Merged is the error for a client that was merged into another one.
func Merged(into uuid.UUID) *apierr.Error {
	return apierr.StateConflict("CLIENT_MERGED", "the client was merged into another one; use that in meta.mergedIntoId from now on").With("mergedIntoId", into)
}

// CopyContact copies the contact data of a new client to those fields of the document that are not nil; see [Unless].
func (f *Found) CopyContact(name, phone, email **string) {
	c := f.Client
	if c == nil {
		return
	}
	for _, field := range []struct {
		to    **string
		value *string
	}{{name, &c.DisplayName}, {phone, c.Phone}, {email, c.Email}} {
		if field.to != nil {
			*field.to = field.value
		}
	}
}

// Unless returns the field, or nil if the request sets it.
func Unless(sent bool, field **string) **string {
	if sent {
		return nil
	}
	return field
}
