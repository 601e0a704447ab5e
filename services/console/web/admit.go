package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// refusal is why somebody does not get a page.
type refusal struct {
	status int
	text   string // key of the catalog
}

func (r refusal) Error() string { return r.text }

var (
	errNoPage    = refusal{http.StatusNotFound, "error.no_page"}
	errForm      = refusal{http.StatusBadRequest, "error.form"}
	errLarge     = refusal{http.StatusRequestEntityTooLarge, "error.large"}
	errRole      = refusal{http.StatusForbidden, "error.role"}
	errComponent = refusal{http.StatusNotFound, "error.component"}
	errArchived  = refusal{http.StatusForbidden, "error.archived"}

	// errAnonymous and errHalf send to the pages on which one signs in.
	errAnonymous = errors.New("nobody is signed in")
	errHalf      = errors.New("the second factor is missing")
)

// admit finds out who asks, and refuses whoever may not. It is the one place in which this is decided.
func (a *App) admit(ctx context.Context, p Page, q *Request) error {
	if err := a.identify(ctx, q); err != nil {
		if p.Audience == Anyone && (errors.Is(err, errAnonymous) || errors.Is(err, errHalf)) {
			return nil
		}
		return err
	}
	if p.Audience == Operators && !q.Person.Operator() {
		return errNoPage // it does not concern them
	}
	if p.Audience == Operators && p.writes() && !q.changes() {
		return errRole
	}
	if p.Audience == SignedIn && !q.Person.Operator() {
		return a.enter(ctx, q, q.Session.Company.String()) // for the menu and the zone
	}
	if p.Audience != OfCompany {
		return nil
	}
	if err := a.enter(ctx, q, q.HTTP.PathValue("company")); err != nil {
		return err
	}
	changes := p.writes() && !p.Open
	switch {
	case !q.grant.sees(p.Area):
		return errRole
	case p.Scope != "" && !q.Allows(p.Scope, changes):
		return errRole
	case changes && p.Scope == "" && p.Area != Account && !q.changes():
		return errRole
	case p.Component != "" && !q.Has(p.Component):
		return errComponent
	}
	return nil
}

// changes reports whether the role changes anything at all: an operator who may only read does not.
func (q *Request) changes() bool {
	return slices.ContainsFunc(q.grant.Scopes, func(scope string) bool { return access.Scopes{scope}.Allows("*", true) })
}

// renews reports whether a page asks by itself, because it renews itself: that does not keep a session from ending for want of use.
func (q *Request) renews() bool {
	return q.HTTP.Header.Get("X-Renews") != "" || strings.HasPrefix(q.HTTP.Header.Get("Accept"), "text/event-stream")
}

// identify sets who is signed in.
func (a *App) identify(ctx context.Context, q *Request) error {
	c, err := q.HTTP.Cookie(a.sessionCookie())
	if err != nil {
		return errAnonymous
	}
	if q.renews() {
		q.Session, err = a.cfg.Sessions.Peek(ctx, c.Value, q.Visit)
	} else {
		q.Session, err = a.cfg.Sessions.Session(ctx, c.Value, q.Visit)
	}
	if errors.Is(err, accounts.ErrSession) {
		return errAnonymous
	}
	if err != nil {
		return err
	}
	if q.Session.NeedsCode() {
		return errHalf
	}
	if q.counted {
		if q.ended, err = a.people.begin(q.Session, q.isPart); err != nil {
			return err
		}
	}
	if q.Session.Operator != "" {
		return a.identifyOperator(q)
	}
	return a.identifyUser(ctx, q)
}

func (a *App) identifyOperator(q *Request) error {
	if a.cfg.Operators == nil {
		return errAnonymous
	}
	operator, ok := a.cfg.Operators.Fingerprinted(q.Session.Operator)
	if !ok {
		return errAnonymous // the token is no longer in the file
	}
	q.Person = Person{Name: operator.Name, Role: operatorRole(operator.Role)}
	q.grant = grants[q.Person.Role]
	// Of no company, until the page is of one.
	q.Caller = access.Caller{Principal: &access.Principal{TokenName: operator.Name, Scopes: q.grant.Scopes, PlanAPI: true, Rate: access.Rate{Unlimited: true}}}
	return nil
}

// identifyUser looks at the user each time, so that who is blocked is out at once, and at the company, of which nearly each page is.
func (a *App) identifyUser(ctx context.Context, q *Request) error {
	var u company.User
	g, readCtx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		u, err = a.cfg.Companies.User(readCtx, access.System(q.Session.Company), q.Session.User)
		return err
	})
	g.Go(func() (err error) {
		q.own, err = a.cfg.Companies.Access(readCtx, q.Session.Company)
		return err
	})
	err := g.Wait()
	if apierr.Is(err, "USER_NOT_FOUND") || apierr.Is(err, "COMPANY_NOT_FOUND") {
		return errAnonymous
	}
	if err != nil {
		return err
	}
	if u.Status != company.UserActive || !u.MaySignIn() {
		return errAnonymous
	}
	q.Person = Person{Name: *u.Email, Email: *u.Email, Role: *u.Role}
	if u.Name != nil && *u.Name != "" {
		q.Person.Name = *u.Name
	}
	q.grant = grants[q.Person.Role]
	return nil
}

// enter makes the person a caller of the company in the address. That of others does not exist for them.
func (a *App) enter(ctx context.Context, q *Request, text string) error {
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return errNoPage
	}
	own, reached := q.Session.Operator == "", q.own
	switch {
	case !own:
		reached, err = a.cfg.Companies.Access(ctx, tenant.ID(id))
		if apierr.Is(err, "COMPANY_NOT_FOUND") {
			return errNoPage
		}
		if err != nil {
			return err
		}
	case tenant.ID(id) != q.Session.Company:
		return errNoPage
	}
	q.Company = reached.Company
	if q.Zone, err = time.LoadLocation(reached.Company.TimeZone); err != nil {
		q.Zone = time.UTC
	}
	q.Caller = access.Caller{Principal: reached.Principal(q.Session.User, q.name(), q.grant.Scopes)}
	if own && q.Archived {
		return errArchived
	}
	return nil
}
