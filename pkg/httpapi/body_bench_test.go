package httpapi

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/money"
)

type benchLine struct {
	Kind      string        `json:"kind,omitempty" enum:"product,service,custom" default:"product"`
	RefID     *uuid.UUID    `json:"refId,omitempty" format:"uuid"`
	Name      *string       `json:"name,omitempty" maxLength:"255"`
	Qty       *money.Qty    `json:"qty,omitempty" exclusiveMinimum:"0" maximum:"1000000"`
	UnitPrice *money.Amount `json:"unitPrice,omitempty" minimum:"0"`
}

type benchDocument struct {
	Items          []benchLine  `json:"items" required:"true" minItems:"1" maxItems:"500"`
	CustomerName   *string      `json:"customerName" maxLength:"255"`
	CustomerPhone  *string      `json:"customerPhone" maxLength:"32"`
	DeliveryMethod *string      `json:"deliveryMethod" enum:"pickup,courier,post"`
	Note           *string      `json:"note" maxLength:"4000"`
	PrepaidAmount  money.Amount `json:"prepaidAmount" minimum:"0"`
}

// BenchmarkBody reads a body like that of an order: its fingerprint, its validation, and the input of the operation.
func BenchmarkBody(b *testing.B) {
	raw := []byte(`{"customerName":"Erika Example","customerPhone":"+49 30 5550100","deliveryMethod":"pickup","items":[` +
		`{"qty":1,"refId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"},{"qty":2,"refId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e56"}],"note":"ring twice","prepaidAmount":500}`)
	reg := New(Config{}).desc.Components.Schemas
	schema := derivedBody(reg, reflect.TypeFor[benchDocument](), inputSuffix)
	b.ReportAllocs()
	for b.Loop() {
		tree, err := parseJSON(raw)
		require.NoError(b, err)
		sha256.Sum256(appendTree(nil, tree))
		c := &checker{reg: reg}
		tree = c.value("", schema, tree, 1)
		require.Empty(b, c.faults)
		var in benchDocument
		require.NoError(b, json.Unmarshal(appendTree(nil, tree), &in))
	}
}
