package orders_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// What happened to the money and the goods of an order is told at most as many days later as the company allows, and never before.
func TestTimesOfMoneyAndGoods(t *testing.T) {
	t.Parallel()
	s := open(t, nil, func(p *access.Principal) { p.Settings.BackdateDays = 3 })
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(jsontype.Layout) }
	id := s.order(1000)
	paid := s.pay(id, `{"amount":10,"method":"cash","paidAt":"`+ago(71*time.Hour)+`"}`).OK(201)["id"].(string)
	for at, code := range map[string]string{ago(-10 * time.Minute): "MAX", ago(73 * time.Hour): "MIN"} {
		require.Equal(t, map[string]string{"paidAt": code}, s.pay(id, `{"amount":1,"method":"cash","paidAt":"`+at+`"}`).Fields())
	}
	now := s.pay(id, `{"amount":1,"method":"cash","paidAt":"`+ago(-2*time.Minute)+`"}`).OK(201)
	require.Less(t, now["paidAt"], ago(-time.Minute), "a clock that is a little ahead")
	for _, told := range [][2]string{{"paidAt", "payments/" + paid + "/refund"}, {"shippedAt", "shipments"}, {"returnedAt", "returns"}} {
		field, path := told[0], "/orders/"+id+"/"+told[1]
		for at, code := range map[string]string{ago(-10 * time.Minute): "MAX", ago(73 * time.Hour): "MIN"} {
			require.Equal(t, map[string]string{field: code}, s.Do(t, "POST", path, `{"`+field+`":"`+at+`"}`).Fields(), path)
		}
		sent := ago(time.Hour)
		require.Equal(t, sent, s.Do(t, "POST", path, `{"`+field+`":"`+sent+`"}`).OK(201)[field])
	}
}
