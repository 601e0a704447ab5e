package main

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/delivery/trigger"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
)

// Every event of the catalog can be made to happen, or the command says who makes it happen.
func TestEveryEventCanBeTriggered(t *testing.T) {
	t.Parallel()
	l := newLaptop(t)
	test, err := l.node.CreateCompany(t.Context(), company.NewCompany{Name: "Test", IsTest: true, Plan: "business"})
	require.NoError(t, err)
	_, err = roles.ChangeWith(t.Context(), l.node.DB, "test", test.ID, l.node.Company.InviteUser, company.Invitation{Email: "ann@example.com", Name: "Ann"})
	require.NoError(t, err)
	l.owner = l.node.Client(l.node.Issue(t, test.ID, []string{"*:write"}).Text)
	_, err = roles.ChangeWith(t.Context(), l.node.DB, "test", test.ID, l.node.Company.CreateBranch, company.BranchFields{Name: "Annex"})
	require.NoError(t, err)
	l.owner.OK(t, "POST", "/warehouse/warehouses", `{"name":"Annex"}`)
	out, _ := l.run(0, "login", "--url", l.url, "--token", l.owner.Token)
	require.Contains(t, out, "test company Test")
	apitest.Background(t, func(ctx context.Context) error { return l.node.NewWorker(2, slog.New(slog.DiscardHandler)).Run(ctx) })
	l.owner.OK(t, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:9/hook","events":["*"]}`)

	list, _ := l.run(0, "trigger")
	for _, e := range l.node.Events.All() {
		require.Contains(t, list, e.Name+" ")
		require.NotEqual(t, len(e.Requests) > 0, e.Raiser != "", "%s says neither or both of By and NotByClients", e.Name)
		if e.Raiser != "" {
			_, errs := l.run(1, "trigger", e.Name)
			require.Contains(t, errs, e.Name+" cannot be triggered: ")
			continue
		}
		out, _ := l.run(0, "trigger", e.Name)
		if e.Name == trigger.Test {
			require.Contains(t, out, "POST /webhooks/subscriptions/")
			continue
		}
		require.Regexp(t, `\n\S+  `+e.Name+` +\S+  \S+\n$`, "\n"+out)
	}
	for _, again := range []string{"shift.opened", "shift.closed", "sale.completed", "booking.created"} {
		l.run(0, "trigger", again)
	}

	reader := l.node.Issue(t, test.ID, []string{"clients:write"}).Text
	out, _ = l.run(0, "trigger", "client.created", "--token", reader)
	require.Contains(t, out, "the token lacks events:read")
	_, errs := l.run(1, "trigger", "order.created", "--token", reader)
	require.Contains(t, errs, "catalog:write")
	_, errs = l.run(1, "trigger", "order.gone")
	require.Contains(t, errs, "there is no such event")
	business, _ := l.node.Owner(t)
	_, errs = l.run(1, "trigger", "order.created", "--token", business.Token)
	require.Contains(t, errs, "is not a test company")
	require.NotContains(t, business.OK(t, "GET", "/orders", "").Raw, "Trigger")
}
