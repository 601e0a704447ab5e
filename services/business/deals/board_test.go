package deals_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/deals"
)

// sqlCopyDeal makes so many more deals of one.
const sqlCopyDeal = `INSERT INTO deals SELECT n.* FROM generate_series(1, $3::INT) AS g CROSS JOIN (SELECT b FROM deals b WHERE company_id = $1 AND id = $2) AS s
CROSS JOIN LATERAL jsonb_populate_record(s.b, jsonb_build_object('id', gen_random_uuid(), 'number', 100000 + g, 'external_id', NULL)) AS n`

func TestSumsOfStages(t *testing.T) {
	t.Parallel()
	k, s := setup(t)
	kind := k.typeOf("sales")
	first, second := kind.stages["New"], kind.stages["Won"]
	var last object
	for range 3 {
		last = k.post(object{"typeId": kind.ID, "items": []object{{"kind": "product", "refId": s.tea, "qty": 2}}})
	}
	company := k.Principal.Company
	by := access.System(company)
	ids := []deals.StagePeriod{{ID: uuid.MustParse(first)}, {ID: uuid.MustParse(second)}, {ID: uuid.New()}}
	got, err := k.service.StageSums(t.Context(), by, ids)
	require.NoError(t, err)
	require.Equal(t, []deals.StageSum{{Count: 3, Total: 3000}, {}, {}}, got)
	got, err = k.service.StageSums(t.Context(), access.System(tenant.NewID()), ids)
	require.NoError(t, err)
	require.Equal(t, make([]deals.StageSum, 3), got, "another company has none of these")
	entered, err := time.Parse(time.RFC3339, last["stageEnteredAt"].(string))
	require.NoError(t, err)
	for _, row := range []struct {
		of   deals.StagePeriod
		want int64
	}{
		{deals.StagePeriod{From: entered}, 1}, {deals.StagePeriod{To: entered}, 2}, {deals.StagePeriod{From: entered.Add(time.Second)}, 0}, {deals.StagePeriod{To: entered.Add(time.Second)}, 3},
	} {
		row.of.ID = ids[0].ID
		got, err := k.service.StageSums(t.Context(), by, []deals.StagePeriod{row.of})
		require.NoError(t, err)
		require.Equal(t, row.want, got[0].Count, "from %s to %s", row.of.From, row.of.To)
	}
	if dbtest.Dialect(t) != db.PostgreSQL {
		return // has no function to copy a row
	}
	_, err = k.db.Exec(t.Context(), sqlCopyDeal, company, last["id"], deals.MaxSummed)
	require.NoError(t, err)
	got, err = k.service.StageSums(t.Context(), by, ids[:1])
	require.NoError(t, err)
	require.Equal(t, []deals.StageSum{{Count: deals.MaxSummed, Many: true}}, got, "a sum that is not of all is no sum")
}
