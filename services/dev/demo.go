package dev

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/dev/demodata"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
)

// seedFile keeps what the database does not know any more, such as the texts of tokens.
const seedFile = "demo.json"

// seeded is the demo company as it was made at the first start.
type seeded struct {
	CompanyID      tenant.ID `json:"companyId"`
	Token          string    `json:"token"`
	Token2         string    `json:"token2"`
	NarrowToken    string    `json:"narrowToken"`
	LimitedToken   string    `json:"limitedToken"`
	ExpiredToken   string    `json:"expiredToken"`
	ArchivedToken  string    `json:"archivedToken"`
	NoPlanToken    string    `json:"noPlanToken"`
	NoModuleToken  string    `json:"noModuleToken"`
	ProductID      string    `json:"productId"`
	ClientID       string    `json:"clientId"`
	SubscriptionID string    `json:"subscriptionId"`
	Secret         string    `json:"secret"`
	HookURL        string    `json:"hookUrl"`
	DemoData       string    `json:"demoData"`
	Unfinished     bool      `json:"unfinished,omitempty"` // the start was interrupted while the company was being made
}

// demo is the company that a person's first five minutes are spent with.
type demo struct {
	info    *Info
	domains *roles.Domains
	state   string
	data    string    // --demo-data
	now     time.Time // end of the history that the data show
	out     io.Writer
	settled func(ctx context.Context, id tenant.ID) error // waits until the events of the data are routed
	seeded
}

// arrival tells how the webhook of the first order arrived.
type arrival struct {
	Number   int64
	Total    int64
	OrderID  string
	Delivery struct {
		ID       string          `json:"id"`
		Event    string          `json:"event"`
		Attempt  int             `json:"attempt"`
		Verified bool            `json:"verified"`
		Body     json.RawMessage `json:"body"`
	}
	Took time.Duration // from the request to the webhook's arrival
}

// String tells it in a sentence.
func (a *arrival) String() string {
	return fmt.Sprintf("Order %d over %d.%02d EUR was placed, and its webhook %s arrived and verified after %s.",
		a.Number, a.Total/100, a.Total%100, a.Delivery.Event, a.Took.Round(time.Millisecond))
}

// seed makes the company once and finds it again at later starts. It needs nothing but the database: events are delivered
// only later, so that a clock that lags, as that of the data does, puts none of them in the wrong order.
func (dm *demo) seed(ctx context.Context) error {
	raw, err := os.ReadFile(dm.file())
	switch {
	case err == nil:
		if err := json.Unmarshal(raw, &dm.seeded); err != nil {
			return fmt.Errorf("read %s (start over with --fresh): %w", dm.file(), err)
		}
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	if dm.CompanyID.IsZero() || dm.Unfinished {
		if err := dm.make(ctx); err != nil {
			return err
		}
	} else {
		dm.sayOther()
	}
	if dm.NoModuleToken == "" { // made here, or by a release that did not know these
		if err := dm.makeRefused(ctx); err != nil {
			return err
		}
	}
	dm.info.CompanyID, dm.info.Token, dm.info.Token2 = dm.CompanyID.String(), dm.Token, dm.Token2
	dm.info.NarrowToken, dm.info.LimitedToken, dm.info.ExpiredToken = dm.NarrowToken, dm.LimitedToken, dm.ExpiredToken
	dm.info.ArchivedToken, dm.info.NoPlanToken, dm.info.NoModuleToken = dm.ArchivedToken, dm.NoPlanToken, dm.NoModuleToken
	dm.Unfinished = false
	return dm.keep()
}

func (dm *demo) file() string { return filepath.Join(dm.state, seedFile) }

// keep writes what the next start has to know.
func (dm *demo) keep() error {
	raw, err := json.MarshalIndent(dm.seeded, "", "  ") //nolint:gosec // tokens of a demo company, in a file for its user only
	if err != nil {
		return fmt.Errorf("write %s: %w", dm.file(), err)
	}
	return os.WriteFile(dm.file(), raw, 0o600)
}

// sayOther says that --demo-data has no effect on a company that exists.
func (dm *demo) sayOther() {
	if kept := cmp.Or(dm.DemoData, demodata.None); dm.data != kept && dm.data != demodata.Small {
		fmt.Fprintf(dm.out, "The demo company exists with --demo-data %s; --fresh starts over.\n", kept)
	}
}

// make makes the company. One that an interrupted start has left is archived first.
func (dm *demo) make(ctx context.Context) error {
	if dm.Unfinished {
		if _, err := roles.Change(ctx, dm.domains.DB, "company.archive", dm.CompanyID, dm.domains.Company.Archive); err != nil {
			return err
		}
	}
	then := dm.domains
	if dm.data != demodata.None {
		then = domainsAt(dm.domains, func() time.Time { return demodata.Founded(dm.data, dm.now) })
	}
	bookings := company.NewBookingSettings{Reminders: []int32{1440, 120}}
	if at := strings.TrimSuffix(dm.info.BaseURL, httpapi.BasePath); at != "" { // without an API there are no links
		bookings.URL = &at
	}
	co, err := then.CreateCompany(ctx, company.NewCompany{
		Name: "Demo Cycles", Plan: "business", IsTest: true, Currency: "EUR", CountryPrefix: "+49", TimeZone: demodata.TimeZone, Locale: "de-DE", AccrualPercent: 200, BranchName: demoBranches[0],
		Bookings: bookings,
	})
	if err != nil {
		return err
	}
	dm.seeded = seeded{CompanyID: co.ID, DemoData: dm.data, Unfinished: true}
	if err := dm.keep(); err != nil {
		return err
	}
	for _, name := range demoBranches[1:] {
		if _, err := roles.ChangeWith(ctx, then.DB, "company.branch.create", co.ID, then.Company.CreateBranch, company.BranchFields{Name: name}); err != nil {
			return err
		}
	}
	if err := errors.Join(dm.issueTokens(ctx), makeUsers(ctx, then, co.ID)); err != nil {
		return err
	}
	if dm.data == demodata.None {
		return nil
	}
	return dm.fill(ctx)
}

func (dm *demo) issueTokens(ctx context.Context) error {
	other, err := dm.domains.CreateCompany(ctx, company.NewCompany{Name: "Other Company", Plan: "business", IsTest: true})
	if err != nil {
		return err
	}
	return errors.Join(
		dm.issue(ctx, &dm.Token, dm.CompanyID, company.NewToken{Name: "demo", RateTier: company.TierCustom}),
		dm.issue(ctx, &dm.Token2, other.ID, company.NewToken{Name: "other company", RateTier: company.TierCustom}),
		dm.issue(ctx, &dm.NarrowToken, dm.CompanyID, company.NewToken{Name: "narrow", Scopes: []string{"catalog:read"}}),
		dm.issue(ctx, &dm.LimitedToken, dm.CompanyID, company.NewToken{Name: "limited"}),
	)
}

// issue makes a token with all scopes, unless it names others.
func (dm *demo) issue(ctx context.Context, to *string, id tenant.ID, in company.NewToken) error {
	if in.Scopes == nil {
		in.Scopes = []string{"*:write"}
	}
	issued, err := roles.ChangeWith(ctx, dm.domains.DB, "company.token.issue", id, dm.domains.Company.IssueToken, in)
	if err != nil {
		return fmt.Errorf("issue token %s: %w", in.Name, err)
	}
	*to = issued.Text
	return nil
}

// withoutModule is the component that the company of noModuleToken does not have.
const withoutModule = "orders"

// makeRefused makes tokens that the API refuses, each for another reason, and the users of the demo company.
func (dm *demo) makeRefused(ctx context.Context) error {
	s, d := dm.domains.Company, dm.domains.DB
	if err := makeUsers(ctx, dm.domains, dm.CompanyID); err != nil {
		return err
	}
	if err := dm.issue(ctx, &dm.ExpiredToken, dm.CompanyID, company.NewToken{Name: "expired", Lifetime: time.Millisecond}); err != nil {
		return err
	}
	for _, c := range []struct {
		to    *string
		name  string
		plan  string
		after func(id tenant.ID) (company.Company, error)
	}{
		{&dm.ArchivedToken, "Archived Company", "business", func(id tenant.ID) (company.Company, error) {
			return roles.Change(ctx, d, "company.archive", id, s.Archive)
		}},
		{&dm.NoPlanToken, "Company Without API", "free", nil},
		{&dm.NoModuleToken, "Company Without Orders", "business", func(id tenant.ID) (company.Company, error) {
			return roles.ChangeWith(ctx, d, "company.component", id, s.SetComponent, company.Switch{Component: withoutModule})
		}},
	} {
		co, err := dm.domains.CreateCompany(ctx, company.NewCompany{Name: c.name, Plan: c.plan, IsTest: true})
		if err != nil {
			return err
		}
		if err := dm.issue(ctx, c.to, co.ID, company.NewToken{Name: strings.ToLower(c.name), RateTier: company.TierCustom}); err != nil {
			return err
		}
		if c.after == nil {
			continue
		}
		if _, err := c.after(co.ID); err != nil {
			return err
		}
	}
	return nil
}

// makeUsers makes two active users, for assignedToId, unless a start that failed has made them.
func makeUsers(ctx context.Context, all *roles.Domains, id tenant.ID) error {
	s, d := all.Company, all.DB
	if have, err := s.Users(ctx, access.System(id), false); err != nil || len(have) > 0 {
		return err
	}
	for _, in := range []company.Invitation{
		{Email: "anna@example.com", Name: "Anna Example", Role: "owner"}, {Email: "ben@example.com", Name: "Ben Example", Role: "sales"},
	} {
		u, err := roles.ChangeWith(ctx, d, "company.user.invite", id, s.InviteUser, in)
		if err != nil {
			return err
		}
		if _, err := roles.ChangeWith(ctx, d, "company.user.active", id, s.ActivateUser, u.ID); err != nil {
			return err
		}
	}
	return nil
}

// signInLink makes a link that signs in to the console as the owner, once.
func (dm *demo) signInLink(ctx context.Context) error {
	users, err := dm.domains.Company.Users(ctx, access.System(dm.CompanyID), false)
	if err != nil {
		return err
	}
	for _, u := range users {
		if u.Role == nil || *u.Role != company.RoleOwner || u.Status != company.UserActive || u.Email == nil {
			continue
		}
		return dm.domains.DB.RunTx(ctx, "accounts.link", func(ctx context.Context, tx *db.Tx) error {
			token, _ := dm.domains.Accounts.NewLink(ctx, tx, accounts.Owner{Company: dm.CompanyID, User: u.ID}, *u.Email, accounts.SignInLink)
			dm.info.ConsoleSignIn = dm.info.ConsoleURL + "/link/" + token
			return nil
		})
	}
	return errors.New("the demo company has no owner")
}

// subscribe points the company's subscription at the receiver of this run.
func (dm *demo) subscribe(ctx context.Context) error {
	hook := dm.info.ReceiverURL + "/hook/demo"
	if dm.SubscriptionID == "" {
		if err := dm.settled(ctx, dm.CompanyID); err != nil {
			return err
		}
		var made struct{ ID, Secret string }
		if err := dm.call(ctx, http.MethodPost, "/webhooks/subscriptions", map[string]any{"name": "demo", "url": hook, "events": []string{"*"}}, &made); err != nil {
			return err
		}
		dm.SubscriptionID, dm.Secret = made.ID, made.Secret
	} else if dm.HookURL != hook {
		if err := dm.call(ctx, http.MethodPatch, "/webhooks/subscriptions/"+dm.SubscriptionID, map[string]any{"url": hook}, nil); err != nil {
			return err
		}
	}
	dm.HookURL = hook
	if err := dm.keep(); err != nil {
		return err
	}
	if err := dm.send(ctx, http.MethodPost, dm.info.ReceiverURL+"/secrets/demo", "", map[string]any{"secret": dm.Secret}, nil); err != nil {
		return err
	}
	return dm.warmUp(ctx)
}

// warmUp waits until a test message comes through: consumers take a moment to find each other after a restart,
// and the first order should show what every later one takes.
func (dm *demo) warmUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := dm.call(ctx, http.MethodPost, "/webhooks/subscriptions/"+dm.SubscriptionID+"/test", map[string]any{}, nil); err != nil {
		return err
	}
	var got struct{}
	if err := dm.send(ctx, http.MethodGet, dm.info.ReceiverURL+"/wait/demo?event=webhook.test&timeout=25s", "", nil, &got); err != nil {
		return fmt.Errorf("no test message arrived: %w", err)
	}
	return nil
}

// orderBody is the body of the first order. Without data there is nothing to refer to.
func (dm *demo) orderBody() map[string]any {
	if dm.ProductID == "" {
		return map[string]any{"items": []map[string]any{{"kind": "custom", "name": "First order", "qty": 1, "unitPrice": 1000}}}
	}
	return map[string]any{"customerId": dm.ClientID, "items": []map[string]any{{"refId": dm.ProductID, "qty": 2}}}
}

// placeOrder places an order and waits for its webhook. The error says which of the two did not happen.
func (dm *demo) placeOrder(ctx context.Context) (*arrival, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var a arrival
	var order struct {
		ID            string
		Number, Total int64
	}
	start := time.Now()
	if err := dm.call(ctx, http.MethodPost, "/orders", dm.orderBody(), &order); err != nil {
		return nil, err
	}
	a.OrderID, a.Number, a.Total = order.ID, order.Number, order.Total
	query := url.Values{"event": {"order.created"}, "dataId": {order.ID}, "timeout": {"20s"}}
	if err := dm.send(ctx, http.MethodGet, dm.info.ReceiverURL+"/wait/demo?"+query.Encode(), "", nil, &a.Delivery); err != nil {
		return nil, fmt.Errorf("the order was stored, its webhook did not arrive: %w", err)
	}
	a.Took = time.Since(start)
	if !a.Delivery.Verified {
		return nil, errors.New("the webhook arrived, its signature did not verify")
	}
	return &a, nil
}

// call sends a request to the API as the demo company.
func (dm *demo) call(ctx context.Context, method, path string, body, out any) error {
	return dm.send(ctx, method, dm.info.BaseURL+path, dm.Token, body, out)
}

func (dm *demo) send(ctx context.Context, method, address, token string, body, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, address, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("X-Idempotency-Key", uuid.NewString())
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, address, err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s answered %d: %s", method, address, res.StatusCode, answer)
	}
	if out == nil || len(answer) == 0 {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// banner shows a person what runs, what just happened, and how to do it again.
func (dm *demo) banner(out io.Writer, a *arrival) {
	body, err := json.Marshal(dm.orderBody())
	if err != nil {
		panic(err) // a map of strings and numbers
	}
	fmt.Fprintf(out, `
Tradegrid is running.

  API          %s
  Description  %s/docs
  Admin API    %s/docs
  Console      %s
  Receiver     %s/report/demo
  Metrics      %s
  Token        %s

  %s

Do it again:

  curl -sS %s/orders \
    -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' \
    -d '%s'

See what the receiver got:

  curl -sS '%s/deliveries/demo?limit=1'

%s
`, dm.info.BaseURL, dm.info.BaseURL, dm.info.AdminURL, dm.info.ConsoleSignIn, dm.info.ReceiverURL, dm.info.MetricsURL, dm.Token,
		a, dm.info.BaseURL, dm.Token, strings.ReplaceAll(string(body), "'", `'\''`), dm.info.ReceiverURL,
		"URLs and tokens for scripts are in "+filepath.Join(dm.state, "dev.json")+". Stop with Ctrl-C; the data stays.")
}
