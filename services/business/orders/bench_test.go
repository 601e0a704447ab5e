package orders_test

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/orders"
)

// BenchmarkCreateOrder stores orders of two lines with stock, from 64 callers, through the service.
func BenchmarkCreateOrder(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("%dcompanies", n), func(b *testing.B) {
			shops := []*kit{open(b, nil)}
			for len(shops) < n {
				shops = append(shops, shops[0].branch(b))
			}
			var next, made atomic.Int64
			b.SetParallelism(32) // times two cores
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					s := shops[int(next.Add(1))%n]
					two := money.Units(2)
					_, err := s.s.Create(b.Context(), s.caller(), orders.Input{Items: []orders.LineInput{
						{Input: lineitem.Input{Kind: "product", RefID: &s.wood}}, {Input: lineitem.Input{Kind: "product", RefID: &s.bolt, Qty: &two}},
					}}, nil)
					require.NoError(b, err)
					made.Add(1)
				}
			})
			b.StopTimer()
			var stored int64
			for _, s := range shops {
				c := s.counts()
				require.Equal(b, c[0], c[1], "numbers have no gaps")
				stored += c[0]
			}
			require.Equal(b, made.Load(), stored, "every order that was counted is stored")
		})
	}
}

// BenchmarkStorageOfAnOrder reports how many bytes of an order's answer and event are stored; see docs/reference/limits.md#storage.
func BenchmarkStorageOfAnOrder(b *testing.B) {
	for _, lines := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			s := open(b, nil)
			var in orders.Input
			for i := range lines {
				name, qty, price := fmt.Sprintf("Item number %d", i), money.Units(int64(i%9+1)), money.Amount(100+i)
				in.Items = append(in.Items, orders.LineInput{Input: lineitem.Input{Kind: "custom", Name: &name, Qty: &qty, UnitPrice: &price}})
			}
			made, err := s.s.Create(b.Context(), s.caller(), in, nil)
			require.NoError(b, err)
			answer, err := json.Marshal(made)
			require.NoError(b, err)
			var stored []byte
			require.NoError(b, s.d.QueryRow(b.Context(), `SELECT payload FROM outbox WHERE company_id = $1 AND event = 'order.created'`, s.Principal.Company).Scan(&stored))
			event, err := compress.Open(stored)
			require.NoError(b, err)
			for b.Loop() {
				compress.Pack(answer)
				compress.Pack(event)
			}
			b.ReportMetric(float64(len(answer)), "answer-bytes")
			b.ReportMetric(float64(len(compress.Pack(answer))), "answer-stored-bytes")
			b.ReportMetric(float64(len(event)), "event-bytes")
			b.ReportMetric(float64(len(stored)), "event-stored-bytes")
		})
	}
}

// branch is another company of the same service, with the same goods and a warehouse of its own.
func (s *kit) branch(t testing.TB) *kit {
	c := *s
	c.t, c.Client = t, s.server.Company()
	c.addDepot()
	return &c
}
