package event

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// MaxBody is the maximum size of a body in bytes. The data of larger events is truncated to the id.
const MaxBody = 256 << 10

// TimeLayout is the format of times in envelopes: RFC 3339 in UTC with milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Envelope is the body of every event; see docs/reference/events.md#envelope.
type Envelope struct {
	Event      string          `json:"event"`
	CompanyID  tenant.ID       `json:"companyId"`
	OccurredAt time.Time       `json:"occurredAt"`
	ActorID    string          `json:"actorId"` // user, token user or "system"
	Data       json.RawMessage `json:"data"`
	EventID    string          `json:"eventId"`
}

// maxDataID is the maximum size of the id in truncated data, as JSON.
const maxDataID = 256

// Freeze encodes the event. The bytes are signed and stored, and sent unchanged in every attempt. If they would exceed
// [MaxBody], data becomes {"id": …, "truncated": true} with the id of the entity. It returns an error if data is not JSON.
func (e Envelope) Freeze() ([]byte, error) {
	data := []byte(e.Data)
	if len(data) == 0 {
		data = []byte("null")
	}
	if !json.Valid(data) {
		return nil, fmt.Errorf("encode envelope of %s %s: data is not valid JSON", e.Event, e.EventID)
	}
	body := e.appendTo(make([]byte, 0, 256+len(data)), data)
	if len(body) <= MaxBody {
		return body, nil
	}
	return e.appendTo(nil, truncated(data)), nil
}

// MarshalJSON implements [json.Marshaler] with the layout of Freeze.
func (e Envelope) MarshalJSON() ([]byte, error) { return e.Freeze() }

func (e Envelope) appendTo(b, data []byte) []byte {
	b = appendString(append(b, `{"event":`...), e.Event)
	b = append(append(append(b, `,"companyId":"`...), e.CompanyID.String()...), '"')
	b = append(e.OccurredAt.UTC().AppendFormat(append(b, `,"occurredAt":"`...), TimeLayout), '"')
	b = appendString(append(b, `,"actorId":`...), e.ActorID)
	b = append(append(b, `,"data":`...), data...)
	b = appendString(append(b, `,"eventId":`...), e.EventID)
	return append(b, '}')
}

func appendString(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // strings always encode
	return append(b, text...)
}

func truncated(data []byte) []byte {
	var entity struct {
		ID json.RawMessage `json:"id"`
	}
	// Data that is not an object has no id; the id is null.
	_ = json.Unmarshal(data, &entity)
	if len(entity.ID) == 0 || len(entity.ID) > maxDataID {
		entity.ID = json.RawMessage("null")
	}
	return append(append([]byte(`{"id":`), entity.ID...), `,"truncated":true}`...)
}
