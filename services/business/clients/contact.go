package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/phone"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// phoneKey names a client by its phone number.
type phoneKey struct {
	Phone string `path:"phone" minLength:"1" maxLength:"32" doc:"any spelling of the number; without a country code it is one of the country of the company"`
}

// Fields implements [httpapi.UpsertKey].
func (k phoneKey) Fields() []httpapi.KeyField {
	return []httpapi.KeyField{{Name: "phone", Value: k.Phone}}
}

// emailKey names a client by its e-mail address.
type emailKey struct {
	Email string `path:"email" maxLength:"254" format:"email" doc:"ignoring case"`
}

// Fields implements [httpapi.UpsertKey].
func (k emailKey) Fields() []httpapi.KeyField {
	return []httpapi.KeyField{{Name: "email", Value: k.Email}}
}

func (s *Service) findByPhone(ctx context.Context, q db.Querier, by access.Caller, k phoneKey) (*uuid.UUID, error) {
	if phone.CountryOf(by.CountryPrefix).Key(k.Phone) == "" {
		return nil, apierr.InvalidField("phone", apierr.Format, "must be a phone number that somebody may have")
	}
	return s.matched(ctx, q, by, &k.Phone, nil)
}

func (s *Service) findByEmail(ctx context.Context, q db.Querier, by access.Caller, k emailKey) (*uuid.UUID, error) {
	return s.matched(ctx, q, by, nil, &k.Email)
}

// matched is [Service.MatchClient] with nil for no client.
func (s *Service) matched(ctx context.Context, q db.Querier, by access.Caller, number, email *string) (*uuid.UUID, error) {
	id, found, err := s.MatchClient(ctx, q, by.Company, by.CountryPrefix, number, email)
	if err != nil || !found {
		return nil, err
	}
	return &id, nil
}

func (s *Service) createByPhone(ctx context.Context, tx *db.Tx, by access.Caller, in Fields) (Client, error) {
	return s.createUnless(ctx, tx, by, in, in.Phone, nil)
}

func (s *Service) createByEmail(ctx context.Context, tx *db.Tx, by access.Caller, in Fields) (Client, error) {
	return s.createUnless(ctx, tx, by, in, nil, in.Email)
}

// createUnless creates a client unless another request has made one with the number or address since it was looked for: that is a 409,
// after which the upsert looks again. Requests of this process wait for each other; transactions of others read what these write, so
// that at SERIALIZABLE one of them is tried again.
func (s *Service) createUnless(ctx context.Context, tx *db.Tx, by access.Caller, in Fields, number, email *string) (Client, error) {
	if err := tx.LockInProcess(ctx, "client contacts", by.Company); err != nil {
		return Client{}, err
	}
	tx.ReadsMore()
	other, err := s.matched(ctx, tx, by, number, email)
	if err != nil {
		return Client{}, err
	}
	if other != nil {
		return Client{}, apierr.StateConflict("CLIENT_EXISTS", "another request has made the client; retry").With("clientId", *other)
	}
	return s.Create(ctx, tx, by, in)
}
