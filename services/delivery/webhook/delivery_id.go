package webhook

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"
)

// DeliveryID returns the id of the delivery of an event to a subscription. It is deterministic, so that duplicates are
// recognized, and has the layout of a UUIDv7 with the time of the event id, so that ids sort by age. redelivery is 0 for
// the original delivery and increases with each manual redelivery.
func DeliveryID(event, subscription uuid.UUID, redelivery int) uuid.UUID {
	var in [40]byte
	copy(in[:], event[:])
	copy(in[16:], subscription[:])
	binary.BigEndian.PutUint64(in[32:], uint64(redelivery))
	sum := sha256.Sum256(in[:])
	var id uuid.UUID
	copy(id[:6], event[:6])
	copy(id[6:], sum[:10])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}
