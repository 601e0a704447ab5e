package orders_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/lineitem"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/services/orders"
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

// branch is another company of the same service, with the same goods and a warehouse of its own.
func (s *kit) branch(t testing.TB) *kit {
	c := *s
	c.t, c.Client = t, s.server.Company()
	c.addDepot()
	return &c
}
