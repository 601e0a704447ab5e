package console

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// phone adds an authenticator to the browser, which holds passkeys and knows its owner.
func phone(b *browser) webauthn.AuthenticatorID {
	b.t.Helper()
	return get(b, func(ctx context.Context, t *chromedp.Target) (webauthn.AuthenticatorID, error) {
		if _, err := cdp.Call(ctx, t, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return "", err
		}
		made, err := cdp.Call(ctx, t, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true, HasUserVerification: true,
			AutomaticPresenceSimulation: true, IsUserVerified: true,
		}})
		return made.AuthenticatorID, err
	})
}

// recognise lets the phone recognise its owner, or not.
func recognise(b *browser, id webauthn.AuthenticatorID, known bool) {
	b.t.Helper()
	get(b, func(ctx context.Context, t *chromedp.Target) (bool, error) {
		_, err := cdp.Call(ctx, t, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: id, IsUserVerified: known})
		return true, err
	})
}

// TestPasskey adds a passkey to an account with a second factor, signs out, and signs in with the passkey alone.
func TestPasskey(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := open(t)
	b.run(chromedp.Navigate(d.ConsoleSignIn))
	b.submit("form.form button")
	home := b.location()
	_ = setUpTOTP(t, b, d)

	id := phone(b)
	b.run(chromedp.Navigate(d.ConsoleURL + "/account"))
	require.NotEmpty(t, get(b, chromedp.Evaluate[string](`document.querySelector("[data-passkey] [name=name]").value`)), "it proposes a name")
	b.submit("[data-passkey] button", "#f-name", "My phone", "#f-confirm", "a wrong password")
	require.Contains(t, b.text("[data-passkey] .fault"), "Is not the password of this account")
	require.Equal(t, "My phone", get(b, chromedp.Evaluate[string](`document.querySelector("[data-passkey] [name=name]").value`)), "what was typed stays")
	b.submit("[data-passkey] button", "#f-confirm", password)
	require.Contains(t, b.text("[role=status]"), "passkey is added")
	b.look("account-passkeys", d.ConsoleURL+"/account")
	require.Contains(t, b.text("main"), "My phone")
	b.run(chromedp.SetValue(chromedp.CSS("#f-confirm"), password), chromedp.Click(chromedp.CSS("[data-passkey] button")))
	b.until(`!document.querySelector("[data-passkey] .note.warn").hidden`)
	require.Contains(t, b.text("[data-passkey] .note.warn"), "makes no second one")

	b.submit("nav .who button")
	require.Contains(t, b.location(), "/sign-in")
	recognise(b, id, false)
	b.run(chromedp.Click(chromedp.CSS("[data-passkey] button")))
	b.until(`!document.querySelector("[data-passkey] .note.warn").hidden`)
	require.Contains(t, b.text("[data-passkey] .note.warn"), "No passkey was used")
	recognise(b, id, true)
	b.run(chromedp.Navigate(d.ConsoleURL + "/account"))
	b.look("sign-in-passkey", b.location())
	b.submit("[data-passkey] button")
	require.Contains(t, b.text("h1"), "account", "neither password nor code is asked for, and one comes to where one was going")
	require.Contains(t, b.text("main"), "My phone")

	b.run(chromedp.Click(chromedp.CSS("td button.danger[popovertarget]")))
	b.submit("[popover]:popover-open form button")
	require.Contains(t, b.text("[role=status]"), "is removed")
	people(t, b, home)
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.faults, "the browser complained")
}

// people changes the role of somebody.
func people(t *testing.T, b *browser, home string) {
	t.Helper()
	b.run(chromedp.Navigate(home + "people/invite"))
	b.submit("form.form button", "#f-email", "kim@example.com", "#f-name", "Kim Berg", "#f-role", "viewer")
	b.run(chromedp.Navigate(home + "people"))
	b.look("people-list", home+"people")
	address := get(b, chromedp.Evaluate[string](`[...document.querySelectorAll("td a")].find(a => a.textContent === "Kim Berg").href`))
	b.look("people-user", address)
	b.submit("form.form button", "#f-role", "developer")
	require.Contains(t, b.text("[role=status]"), "is changed")
	b.run(chromedp.Navigate(address))
	require.Equal(t, "developer", get(b, chromedp.Evaluate[string](`document.querySelector("#f-role").value`)))
}
