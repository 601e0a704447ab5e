package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// shop is a company with two products in a warehouse, and what is needed to order them over the API.
type shop struct {
	company tenant.ID
	token   string
	order   []byte // body of an order of both products with a prepayment
}

// api is a client of the API. It is a lean one, because it takes its time from what it measures.
type api struct {
	r      *kit
	base   string // such as 127.0.0.1:8080
	client *fasthttp.HostClient
}

// api waits until the API accepts connections, which may be a moment after its process is ready.
func (r *kit) api(address string) *api {
	r.b.Helper()
	a := &api{r: r, base: "http://" + address + httpapi.BasePath, client: &fasthttp.HostClient{Addr: address, MaxConns: 256}}
	require.Eventually(r.b, func() bool {
		status, _, err := a.client.Get(nil, a.base+"/health")
		return err == nil && status == fasthttp.StatusOK
	}, time.Minute, 20*time.Millisecond)
	return a
}

// post sends a body and returns the answer, which must be of the status; key may be empty.
func (a *api) post(token, path, key string, body []byte) (status int, answer []byte, err error) {
	return a.send(fasthttp.MethodPost, token, path, key, body)
}

func (a *api) send(method, token, path, key string, body []byte) (status int, answer []byte, err error) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.Header.SetMethod(method)
	req.SetRequestURI(a.base + path)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.SetContentType("application/json")
	if key != "" {
		req.Header.Set("X-Idempotency-Key", key)
	}
	req.SetBodyRaw(body)
	if err := a.client.Do(req, res); err != nil {
		return 0, nil, err
	}
	return res.StatusCode(), append([]byte(nil), res.Body()...), nil
}

// create posts v and reads the answer into out.
func (a *api) create(token, path string, v, out any) {
	a.r.b.Helper()
	body, err := json.Marshal(v)
	require.NoError(a.r.b, err)
	status, answer, err := a.post(token, path, uuid.NewString(), body)
	require.NoError(a.r.b, err)
	require.Equal(a.r.b, fasthttp.StatusCreated, status, "%s", answer)
	require.NoError(a.r.b, json.Unmarshal(answer, out))
}

// shops makes companies.
func (a *api) shops(n int) []*shop {
	a.r.b.Helper()
	all := make([]*shop, n)
	for i := range all {
		all[i] = a.shop(fmt.Sprintf("Shop %d", i+1))
	}
	return all
}

func (a *api) shop(name string) *shop {
	b, ctx := a.r.b, a.r.b.Context()
	b.Helper()
	companies := company.New(company.Config{DB: a.r.db, Warehouses: warehouse.New(warehouse.Config{DB: a.r.db}), Access: apitest.Registry()})
	var co company.Company
	var token company.Issued
	require.NoError(b, a.r.db.RunTx(ctx, "bench.shop", func(ctx context.Context, tx *db.Tx) (err error) {
		if co, err = companies.Create(ctx, tx, company.NewCompany{Name: name, Plan: "business"}); err != nil {
			return err
		}
		token, err = companies.IssueToken(ctx, tx, access.System(co.ID), company.NewToken{Name: "bench", Scopes: []string{"*:write"}, RateTier: company.TierCustom})
		return err
	}))
	items := make([]map[string]any, 2)
	for i, p := range []map[string]any{
		{"name": "Espresso beans 1 kg", "price": 1890, "hasStock": true},
		{"name": "Filter papers", "price": 450, "hasStock": true},
	} {
		var made struct{ ID string }
		a.create(token.Text, "/catalog/products", p, &made)
		items[i] = map[string]any{"refId": made.ID, "qty": i + 1}
	}
	body, err := json.Marshal(map[string]any{
		"customerName": "Erika Example", "customerPhone": "+49 30 5550100", "items": items, "prepaidAmount": 500,
		"deliveryMethod": "pickup", "note": "ring twice",
	})
	require.NoError(b, err)
	return &shop{company: co.ID, token: token.Text, order: body}
}
