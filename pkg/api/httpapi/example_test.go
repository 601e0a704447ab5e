package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

type greeting struct {
	Text string `json:"text"`
}

// greetQuery are parameters. Their tags validate and describe them.
type greetQuery struct {
	Name string `query:"name" required:"true" maxLength:"20" doc:"whom to greet"`
}

// greet is a method of a service: what a request says comes in as values, and the result or the error goes out as it is.
func greet(_ context.Context, by access.Caller, q greetQuery) (greeting, error) {
	return greeting{"Hello " + q.Name + ", from " + by.CompanyName}, nil
}

// onlyToken knows one token, which may read orders.
type onlyToken struct{}

func (onlyToken) Authenticate(context.Context, string, netip.Addr, bool) (*access.Principal, error) {
	return &access.Principal{
		Company: tenant.NewID(), CompanyName: "Bikes", Scopes: access.Scopes{"orders:read"}, Components: access.Components{"orders"},
		PlanAPI: true, Rate: access.Rate{Unlimited: true},
	}, nil
}

// One line registers an operation: its route, checks, validation and entry in the API description.
func Example() {
	api := httpapi.New(httpapi.Config{Auth: onlyToken{}, Limiter: ratelimit.New(ratelimit.Config{})})
	r := httpapi.Group{Tag: "Greetings", Scope: "orders", Component: "orders"}.On(api, nil) // changes would need the database
	httpapi.ReadWith(r, "/greetings", "getGreeting", "Greet somebody", greet,
		httpapi.Doc("Says hello. Fails with `VALIDATION_ERROR` without a name."))

	for _, query := range []string{"?name=Ada", "?nam=Ada"} {
		req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, httpapi.BasePath+"/greetings"+query, nil)
		req.Header.Set("Authorization", "Bearer svc_test_0")
		resp, err := api.App().Test(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		var body struct {
			Text    string
			Message []string
		}
		err = json.NewDecoder(resp.Body).Decode(&body)
		_ = resp.Body.Close()
		fmt.Println(resp.StatusCode, body.Text, body.Message, err)
	}
	// Output:
	// 200 Hello Ada, from Bikes [] <nil>
	// 400  [name: is required; set a value nam: is not a parameter of this operation; did you mean name? It knows name] <nil>
}
