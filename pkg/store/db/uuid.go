package db

import (
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	pgxuuid "github.com/vgarvardt/pgx-google-uuid/v5"
)

// registerUUID registers a binary codec for uuid.UUID and *uuid.UUID, which would otherwise be sent as text, and one for arrays.
func registerUUID(m *pgtype.Map) {
	pgxuuid.Register(m)
	if arrays, ok := m.TypeForOID(pgtype.UUIDArrayOID); ok {
		m.RegisterType(&pgtype.Type{Name: arrays.Name, OID: arrays.OID, Codec: uuidArrays{arrays.Codec}})
	}
	m.TryWrapEncodePlanFuncs = slices.Insert(m.TryWrapEncodePlanFuncs, 0, wrapUUIDPointer)
}

func wrapUUIDPointer(value any) (plan pgtype.WrappedEncodePlanNextSetter, next any, ok bool) {
	if id, is := value.(*uuid.UUID); is && id != nil {
		return &uuidPointerPlan{}, pgxuuid.UUID(*id), true
	}
	return nil, nil, false
}

type uuidPointerPlan struct{ next pgtype.EncodePlan }

// SetNext implements [pgtype.WrappedEncodePlanNextSetter].
func (p *uuidPointerPlan) SetNext(next pgtype.EncodePlan) { p.next = next }

// Encode implements [pgtype.EncodePlan]. pgx writes nil pointers as NULL before it asks.
func (p *uuidPointerPlan) Encode(value any, buf []byte) ([]byte, error) {
	id, ok := value.(*uuid.UUID)
	if !ok || id == nil {
		return nil, fmt.Errorf("encode %T as a UUID", value)
	}
	return p.next.Encode(pgxuuid.UUID(*id), buf)
}
