package orders_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// At SERIALIZABLE the database refuses everyone who waited for a row that was changed; clients must not see that.
func TestParallelChangesOfOneOrderAllSucceed(t *testing.T) {
	t.Parallel()
	const changes = 400
	d := dbtest.Open(t)
	s := newShop(t, d)
	server := apitest.New(t, d, s.s.Register)
	c := server.Company()
	id := c.Do(t, "POST", "/orders", `{"items":[{"kind":"custom","name":"Gift wrap","unitPrice":333}]}`).OK(201)["id"].(string)
	answers := make([]*apitest.Response, changes)
	var g errgroup.Group
	for i := range answers {
		g.Go(func() error {
			answers[i] = c.Do(t, "PATCH", "/orders/"+id, fmt.Sprintf(`{"note":"change %d"}`, i))
			return nil
		})
	}
	require.NoError(t, g.Wait())
	for _, a := range answers {
		a.OK(200)
	}
	require.EqualValues(t, changes+1, c.Do(t, "GET", "/orders/"+id, nil).OK(200)["version"])
}
