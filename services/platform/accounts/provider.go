package accounts

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// ProviderConfig says by which OpenID Connect provider people sign in.
type ProviderConfig struct {
	Issuer   string   // as its tokens name it
	ClientID string   // of the console there
	Domains  []string // of e-mail addresses that may sign in by it; none = any
	Redirect string   // address of the console that the provider sends people back to

	// ClientSecret reads the secret of the console there, at each use; nil = a public client, which PKCE alone protects.
	ClientSecret func() (string, error)
}

// Provider is an OpenID Connect provider. It is asked for what it can do when somebody signs in by it, so that the console starts
// without it. It is safe for concurrent use.
type Provider struct {
	cfg    ProviderConfig
	client *http.Client

	mu     sync.Mutex
	known  *oidc.Provider
	asked  time.Time
	failed error
}

const (
	providerWithin = 4 * time.Second // a request to the provider
	askProvider    = time.Hour       // how often it is asked again what it can do
	spareProvider  = 2 * time.Second // it is not asked again so soon after it failed
	maxSubject     = 255             // characters, by OpenID Connect Core
	severalFactors = "mfa"           // of the claim amr, by RFC 8176

	kindProvider = "provider"
)

// NewProvider returns a provider. It sends nothing yet.
func NewProvider(cfg ProviderConfig) *Provider {
	for i, d := range cfg.Domains {
		cfg.Domains[i] = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(d), "@"))
	}
	return &Provider{cfg: cfg, client: newProviderClient()}
}

// Host names the provider to people.
func (p *Provider) Host() string {
	if u, err := url.Parse(p.cfg.Issuer); err == nil && u.Host != "" {
		return u.Host
	}
	return p.cfg.Issuer
}

// ProviderError means that the provider could not be asked, or answered what it should not. Whoever signs in cannot help it.
type ProviderError struct{ Err error }

func (e *ProviderError) Error() string { return "sign-in provider: " + e.Err.Error() }

// Unwrap returns why.
func (e *ProviderError) Unwrap() error { return e.Err }

// Reasons of an [IdentityError].
const (
	Unverified  = "unverified" // the provider does not vouch for the address
	OtherDomain = "domain"     // the address is of a domain that may not sign in by the provider
	Unknown     = "unknown"    // nobody with the address was invited, or the user may not sign in
	Several     = "several"    // several companies have invited the address, and none is accepted
	Another     = "another"    // the user signs in with another identity of the provider
	Denied      = "denied"     // the provider, or the person there, refused
)

// IdentityError means that the provider knows the person, and the console lets that person not in.
type IdentityError struct{ Reason, Email string }

func (e *IdentityError) Error() string { return "identity refused: " + e.Reason }

// discovered returns the provider, which it asks what it can do.
func (p *Provider) discovered(ctx context.Context, now time.Time) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	age := now.Sub(p.asked)
	switch {
	case p.failed == nil && p.known != nil && age < askProvider:
		return p.known, nil
	case p.failed != nil && age < spareProvider:
		return p.known, p.failed
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.cfg.Issuer)
	p.asked, p.failed = now, nil
	switch {
	case err == nil:
		p.known = found
	case p.known == nil:
		p.failed = &ProviderError{fmt.Errorf("discover: %w", err)}
	}
	return p.known, p.failed // what it could do an hour ago is better than nothing
}

func (p *Provider) oauth(known *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.cfg.ClientID, Endpoint: known.Endpoint(), RedirectURL: p.cfg.Redirect,
		Scopes: []string{oidc.ScopeOpenID, "email"},
	}
}

// asking is what the browser keeps while the person is at the provider.
type asking struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	Next     string `json:"next"`
}

// StartProvider returns the address at the provider to which the browser goes, and what it keeps until [Service.Identify]. next is
// where the person wants to go afterwards.
func (s *Service) StartProvider(ctx context.Context, next string, v Visit) (address, kept string, err error) {
	p := s.cfg.Provider
	if p == nil {
		return "", "", ErrRefused
	}
	leave, err := enter(ctx, s.asking, networkOf(v.Address), false)
	if err != nil {
		return "", "", err
	}
	defer leave()
	known, err := p.discovered(ctx, s.cfg.DB.Now())
	if err != nil {
		return "", "", err
	}
	a := asking{newToken(), newToken(), oauth2.GenerateVerifier(), next}
	if kept, err = s.beginCeremony(kindProvider, a); err != nil {
		return "", "", err
	}
	return p.oauth(known).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), kept, nil
}

// claims are those of a token that say who somebody is.
type claims struct {
	Subject  string   `json:"sub"`
	Email    string   `json:"email"`
	Verified verified `json:"email_verified"`
	Methods  []string `json:"amr"`
	Party    string   `json:"azp"`
}

// verified is true, which some providers write as a text.
type verified bool

// UnmarshalJSON implements [json.Unmarshaler].
func (v *verified) UnmarshalJSON(text []byte) error {
	*v = string(text) == "true" || string(text) == `"true"`
	return nil
}

// vouched is a person as the provider knows one.
type vouched struct {
	claims

	next string
}

// answered checks what the provider sent the browser back with, and asks it who that is.
func (s *Service) answered(ctx context.Context, kept string, answer url.Values, from Visit) (v vouched, err error) {
	var a asking
	p := s.cfg.Provider
	if p == nil {
		return v, ErrRefused
	}
	leave, err := s.begin(ctx, from)
	if err != nil {
		return v, err
	}
	err = s.endCeremony(ctx, kindProvider, kept, &a)
	leave() // the provider may take seconds
	if err != nil {
		return v, err
	}
	v.next = a.Next
	if subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(a.State)) != 1 {
		return v, ErrCeremony
	}
	if iss := answer.Get("iss"); iss != "" && iss != p.cfg.Issuer {
		return v, ErrCeremony
	}
	if answer.Get("error") != "" {
		return v, &IdentityError{Reason: Denied}
	}
	if leave, err = enter(ctx, s.asking, networkOf(from.Address), false); err != nil {
		return v, err
	}
	defer leave()
	known, err := p.discovered(ctx, s.cfg.DB.Now())
	if err != nil {
		return v, err
	}
	v.claims, err = p.redeem(ctx, known, a, answer.Get("code"))
	return v, err
}

// redeem changes a code for a token, and reads that.
func (p *Provider) redeem(ctx context.Context, known *oidc.Provider, a asking, code string) (c claims, err error) {
	ctx = oidc.ClientContext(ctx, p.client)
	oauth := p.oauth(known)
	if p.cfg.ClientSecret != nil {
		if oauth.ClientSecret, err = p.cfg.ClientSecret(); err != nil {
			return c, &ProviderError{err}
		}
	}
	token, err := oauth.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode == "invalid_grant" {
			return c, ErrCeremony
		}
		return c, &ProviderError{fmt.Errorf("redeem code: %w", err)}
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := known.VerifierContext(ctx, &oidc.Config{ClientID: p.cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return c, &ProviderError{fmt.Errorf("verify token: %w", err)}
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1 {
		return c, ErrCeremony
	}
	if err := id.Claims(&c); err != nil {
		return c, &ProviderError{fmt.Errorf("read token: %w", err)}
	}
	if (len(id.Audience) > 1 || c.Party != "") && c.Party != p.cfg.ClientID {
		return c, &ProviderError{errors.New("verify token: azp names another client")}
	}
	if n := len(c.Subject); n == 0 || n > maxSubject {
		return c, &ProviderError{errors.New("verify token: it has no subject, or a longer one than OpenID Connect allows")}
	}
	if c.Email == "" {
		err = p.ask(ctx, known, oauth2.StaticTokenSource(token), &c)
	}
	return c, err
}

// ask asks for the address of who signed in, which a provider need not put into the token.
func (p *Provider) ask(ctx context.Context, known *oidc.Provider, tokens oauth2.TokenSource, c *claims) error {
	if known.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := known.UserInfo(ctx, tokens)
	if err != nil {
		return &ProviderError{fmt.Errorf("ask for address: %w", err)}
	}
	if info.Subject != c.Subject {
		return &ProviderError{errors.New("ask for address: the answer is about somebody else")}
	}
	c.Email, c.Verified = info.Email, verified(info.EmailVerified)
	return nil
}

// allows reports whether addresses of the domain may sign in by the provider.
func (p *Provider) allows(email string) bool {
	_, domain, _ := strings.Cut(email, "@")
	return len(p.cfg.Domains) == 0 || slices.Contains(p.cfg.Domains, domain)
}
