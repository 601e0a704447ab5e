// Package tenant holds the type of company ids. It is a separate type so that no other id can be passed in its place.
package tenant

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
)

// ID identifies a company: a random UUIDv4, the partitioning key of all data. Its last two bytes may encode a region.
type ID uuid.UUID

// NewID returns a random company id. Version 4 spreads companies evenly over key ranges.
func NewID() ID { return ID(uuid.New()) }

// NewIDIn returns a random company id that encodes the home region, so that the key of each row determines its region;
// see [RegionCode]. An empty region is the same as [NewID].
func NewIDIn(region string) ID {
	id := NewID()
	if region != "" {
		binary.BigEndian.PutUint16(id[14:], regionCode(region))
	}
	return id
}

// RegionCode returns the suffix of the ids of companies in a region: four lower-case hexadecimal digits, a hash of its name.
func RegionCode(region string) string { return fmt.Sprintf("%04x", regionCode(region)) }

func regionCode(region string) uint16 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(region)) // never fails
	sum := h.Sum32()
	return uint16(sum>>16) ^ uint16(sum)
}

// Parse parses a company id.
func Parse(s string) (ID, error) {
	u, err := uuid.Parse(s)
	if err != nil {
		return ID{}, fmt.Errorf("parse company id %q: %w", s, err)
	}
	return ID(u), nil
}

// String returns the lower-case text form.
func (id ID) String() string { return uuid.UUID(id).String() }

// IsZero reports whether the id is the zero value.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText implements [encoding.TextMarshaler].
func (id ID) MarshalText() ([]byte, error) { return uuid.UUID(id).MarshalText() }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (id *ID) UnmarshalText(b []byte) error { return (*uuid.UUID)(id).UnmarshalText(b) }

// UUIDValue lets pgx encode the id in binary.
func (id ID) UUIDValue() (pgtype.UUID, error) { return pgtype.UUID{Bytes: id, Valid: true}, nil }

// ScanUUID lets pgx decode the id from binary.
func (id *ID) ScanUUID(v pgtype.UUID) error {
	if !v.Valid {
		return fmt.Errorf("scan company id: the column is null")
	}
	*id = v.Bytes
	return nil
}

// Value implements [driver.Valuer] for code outside pgx.
func (id ID) Value() (driver.Value, error) { return id.String(), nil }

type contextKey struct{}

// With returns a context for work on behalf of a company. The zero id stands for work of the platform.
func With(ctx context.Context, company ID) context.Context {
	return context.WithValue(ctx, contextKey{}, company)
}

// Of is the company that the work of ctx is done for; the zero id is the platform.
func Of(ctx context.Context) ID {
	company, _ := ctx.Value(contextKey{}).(ID)
	return company
}
