package db

import (
	"encoding/binary"
	"math"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// uuidArrays encodes arrays of ids at once. The codec of pgx does it element by element through reflection, which is a
// considerable part of what statements on many rows cost.
type uuidArrays struct{ pgtype.Codec }

// PlanEncode implements [pgtype.Codec].
func (c uuidArrays) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if format == pgtype.BinaryFormatCode {
		switch value.(type) {
		case []uuid.UUID:
			return uuidArrayPlan[uuid.UUID]{}
		case []tenant.ID:
			return uuidArrayPlan[tenant.ID]{}
		}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

type uuidArrayPlan[T ~[16]byte] struct{}

// Encode implements [pgtype.EncodePlan].
func (uuidArrayPlan[T]) Encode(value any, buf []byte) ([]byte, error) {
	ids, ok := value.([]T)
	if !ok || ids == nil || len(ids) > math.MaxInt32 {
		return nil, nil // NULL
	}
	dimensions := uint32(min(len(ids), 1))
	buf = binary.BigEndian.AppendUint32(buf, dimensions)
	buf = binary.BigEndian.AppendUint32(buf, 0) // no NULLs
	buf = binary.BigEndian.AppendUint32(buf, pgtype.UUIDOID)
	if dimensions == 0 {
		return buf, nil
	}
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(ids)))
	buf = binary.BigEndian.AppendUint32(buf, 1) // lower bound
	for i := range ids {
		id := [16]byte(ids[i])
		buf = append(binary.BigEndian.AppendUint32(buf, uint32(len(id))), id[:]...)
	}
	return buf, nil
}
