package clients_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

func (f kit) addPoints(t *testing.T, client uuid.UUID, delta int64, reason string, sale *uuid.UUID) error {
	t.Helper()
	return f.tx(t, func(_ context.Context, tx *db.Tx) error {
		f.service.AddPoints(tx, f.Principal.Company, client, delta, reason, sale)
		return nil
	})
}

// The points of a client are the sum of the entries, and each entry has the sum up to it.
func TestLedgerOfPointsAgainstModel(t *testing.T) {
	t.Parallel()
	f := setup(t)
	rapid.Check(t, func(rt *rapid.T) {
		id := f.client(t)
		client := uuid.MustParse(id)
		sum, version := int64(0), 1.0
		var want []int64
		for range rapid.IntRange(1, 8).Draw(rt, "entries") {
			delta := rapid.Int64Range(-20, 20).Draw(rt, "delta")
			if delta != 0 && rapid.Bool().Draw(rt, "asked") {
				got := f.Do(t, "POST", "/clients/"+id+"/points", map[string]any{"delta": delta, "note": "gift"})
				if sum+delta < 0 && delta < 0 {
					got.Fault(409, "LOYALTY_POINTS_INSUFFICIENT")
					continue
				}
				entry := got.OK(201)
				sum, version = sum+delta, version+1
				want = append(want, delta, sum)
				require.Equal(t, []any{float64(delta), float64(sum), "adjusted", "gift", nil}, []any{entry["delta"], entry["balance"], entry["reason"], entry["note"], entry["saleId"]})
				continue
			}
			reason := rapid.SampledFrom([]string{trade.PointsRedeemed, trade.PointsEarned, trade.PointsReturned, trade.PointsTakenBack}).Draw(rt, "reason")
			err := f.addPoints(t, client, delta, reason, nil)
			switch {
			case delta == 0:
				require.NoError(t, err)
			case reason == trade.PointsRedeemed && sum+delta < 0:
				require.True(t, apierr.Is(err, "LOYALTY_POINTS_INSUFFICIENT"), "%v", err)
			default:
				require.NoError(t, err)
				sum, version = sum+delta, version+1
				want = append(want, delta, sum)
			}
		}
		c := f.Do(t, "GET", "/clients/"+id, nil).OK(200)
		require.Equal(t, float64(sum), c["points"])
		require.Equal(t, version, c["version"])
		var got []int64
		for _, item := range f.Do(t, "GET", "/clients/"+id+"/points?order=asc&sort=createdAt", nil).OK(200)["items"].([]any) {
			e := item.(map[string]any)
			got = append(got, int64(e["delta"].(float64)), int64(e["balance"].(float64)))
		}
		require.Equal(t, want, got)
	})
	names, _ := f.events(t)
	require.NotContains(t, names, "client.updated")
}

func TestPointsAreNotRedeemedTwice(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.client(t)
	client, sale := uuid.MustParse(id), uuid.New()
	require.NoError(t, f.addPoints(t, client, 100, trade.PointsEarned, &sale))
	errs := make([]error, 12)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = f.addPoints(t, client, -30, trade.PointsRedeemed, &sale) })
	}
	wg.Wait()
	done := 0
	for _, err := range errs {
		if err == nil {
			done++
			continue
		}
		require.True(t, apierr.Is(err, "LOYALTY_POINTS_INSUFFICIENT"), "%v", err)
	}
	require.Equal(t, 3, done)
	page := f.Do(t, "GET", "/clients/"+id+"/points", nil).OK(200)
	require.Equal(t, 4.0, page["total"])
	balances := map[float64]bool{}
	for _, item := range page["items"].([]any) {
		e := item.(map[string]any)
		balances[e["balance"].(float64)] = true
		require.Equal(t, sale.String(), e["saleId"])
		if e["balance"] == 10.0 {
			require.Equal(t, map[string]any{"id": e["id"], "delta": -30.0, "balance": 10.0, "reason": "redeemed", "saleId": sale.String(), "note": nil, "createdAt": e["createdAt"]}, e)
		}
	}
	require.Equal(t, map[float64]bool{100: true, 70: true, 40: true, 10: true}, balances)
	require.Equal(t, 10.0, f.Do(t, "GET", "/clients/"+id, nil).OK(200)["points"])

	require.ErrorContains(t, f.addPoints(t, uuid.New(), 5, trade.PointsEarned, nil), "CLIENT_NOT_FOUND")
	f.server.Company().Do(t, "GET", "/clients/"+id+"/points", nil).Fault(404, "CLIENT_NOT_FOUND")
	got, _, err := f.service.DocumentClient(t.Context(), f.db, f.Principal.Company, client, false)
	require.NoError(t, err)
	require.Equal(t, int64(10), got.Points)
	f.Do(t, "PATCH", "/clients/"+id, `{"note":"x"}`).OK(200)
	require.Equal(t, 10.0, f.Do(t, "GET", "/clients/"+id, nil).OK(200)["points"], "a change of the client keeps them")
}

func TestAdjustedPoints(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.client(t)
	at := "/clients/" + id + "/points"
	require.Equal(t, map[string]string{"delta": "MIN"}, f.Do(t, "POST", at, map[string]any{"delta": 0}).Fields())
	require.Equal(t, map[string]string{"delta": "REQUIRED"}, f.Do(t, "POST", at, map[string]any{}).Fields())
	const most = 1<<53 - 1
	f.Do(t, "POST", at, map[string]any{"delta": most}).OK(201)
	f.Do(t, "POST", at, map[string]any{"delta": 1}).Fault(409, "LOYALTY_POINTS_OUT_OF_RANGE")
	f.Do(t, "POST", at, map[string]any{"delta": -most, "note": "back"}).OK(201)
	f.Do(t, "POST", at, map[string]any{"delta": -1}).Fault(409, "LOYALTY_POINTS_INSUFFICIENT")
	f.Do(t, "POST", "/clients/"+uuid.NewString()+"/points", map[string]any{"delta": 1}).Fault(404, "CLIENT_NOT_FOUND")

	// After a refund took points that were spent, they can be given again.
	require.NoError(t, f.addPoints(t, uuid.MustParse(id), -5, trade.PointsTakenBack, nil))
	require.EqualValues(t, -2, f.Do(t, "POST", at, map[string]any{"delta": 3}).OK(201)["balance"])

	f.Do(t, "POST", "/clients/"+id+"/anonymize", nil).OK(200)
	f.Do(t, "POST", at, map[string]any{"delta": 1}).Fault(409, "CLIENT_ANONYMIZED")
	for _, e := range f.Do(t, "GET", at, nil).OK(200)["items"].([]any) {
		require.Nil(t, e.(map[string]any)["note"])
	}
}
