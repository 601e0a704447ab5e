package accounts

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
)

// invite invites an address, and returns the link that it is mailed.
func (o *office) invite(owner Owner, email, company string) (token string) {
	o.t.Helper()
	require.NoError(o.t, o.tx(func(ctx context.Context, tx *db.Tx) error { return o.Invite(ctx, tx, owner, email, company) }))
	mails := o.mails(owner, ownermail.Invitation)
	require.NotEmpty(o.t, mails)
	require.NoError(o.t, o.tx(func(ctx context.Context, tx *db.Tx) error {
		token, _ = o.NewLink(ctx, tx, owner, email, Invitation)
		return nil
	}))
	return token
}

// accept opens a link and sets the password of all people.
func (o *office) accept(token, email string) error {
	p, err := o.NewPassword(o.t.Context(), "password", word, email)
	require.NoError(o.t, err)
	return o.tx(func(ctx context.Context, tx *db.Tx) error {
		l, _, err := o.UseLink(ctx, tx, token, p, o.visit())
		o.active[l.User] = true
		return err
	})
}

func newPerson() (Owner, string) {
	return Owner{tenant.NewID(), uuid.New()}, uuid.NewString() + "@example.com"
}

// Whoever invites learns nothing of the address, and keeps it from nobody. Who reads its mails decides.
func TestInvitationClaimsTheAddressWhenItIsAccepted(t *testing.T) {
	t.Parallel()
	o := setup(t)
	first, email := newPerson()
	second, _ := newPerson()
	probe := o.invite(first, email, "Grabber")
	token := o.invite(second, email, "Nordic")
	require.NoError(t, o.accept(token, email), "the other invitation has claimed nothing")
	e, err := o.SignIn(t.Context(), Credentials{email, word}, o.visit())
	require.NoError(t, err)
	require.Equal(t, second, e.Owner)

	third, _ := newPerson()
	late := o.invite(third, email, "Late") // says nothing of who is a customer
	for _, link := range []string{probe, late} {
		require.ErrorIs(t, o.accept(link, email), ErrAddressTaken)
		_, err := o.Link(t.Context(), link, o.visit())
		require.NoError(t, err, "it is not used up")
	}
	e, err = o.SignIn(t.Context(), Credentials{email, word}, o.visit())
	require.NoError(t, err)
	require.Equal(t, second, e.Owner)
}

// Releases before claimed the address at once: an account that never signed in gives it up.
func TestUnusedAccountGivesItsAddressUp(t *testing.T) {
	t.Parallel()
	o := setup(t)
	unused, email := newPerson()
	require.NoError(t, o.tx(func(_ context.Context, tx *db.Tx) error { ensure(tx, unused, email); return nil }))
	owner, _ := newPerson()
	require.NoError(t, o.accept(o.invite(owner, email, "Nordic"), email))
	security, err := o.Security(t.Context(), unused)
	require.NoError(t, err)
	require.Equal(t, Security{}, security)
}

// A link that sets the password of somebody who has one leaves a trace in their mailbox, whatever it is called.
func TestInvitationOfAUserIsToldAsAReset(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email, _ := o.person()
	require.NoError(t, o.accept(o.invite(owner, email, "Nordic"), email))
	require.Len(t, o.mails(owner, ownermail.Private+"password"), 1)
	fresh, other := newPerson()
	require.NoError(t, o.accept(o.invite(fresh, other, "Nordic"), other))
	require.Empty(t, o.mails(fresh, ownermail.Private+"password"))
}

func TestInvitationsAreBounded(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email := newPerson()
	invite := func(n int) error {
		return o.tx(func(ctx context.Context, tx *db.Tx) error {
			return o.Invite(ctx, tx, owner, fmt.Sprint(n, email), "Nordic")
		})
	}
	for n := range maxInvitations {
		require.NoError(t, invite(n))
		o.wait(1)
	}
	require.True(t, apierr.Is(invite(maxInvitations), "INVITATION_LIMIT_REACHED"))
	o.wait(24 * 3600 * 1e9)
	require.NoError(t, invite(maxInvitations))
}

// The name of a company comes to strangers as one line of text.
func TestInvitationShowsTheNameAsText(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email := newPerson()
	o.invite(owner, email, "Bank\r\n\r\nYour account is blocked: https://evil.example/login\nwww.evil.example")
	mail := o.mails(owner, ownermail.Invitation)[0]
	require.Contains(t, mail, "the console of Bank Your account is blocked: evil. example/login evil. example. Open this link")
}

// Of several invitations, the one is accepted whose link is opened; a provider knows only the address.
func TestProviderAcceptsTheOnlyInvitation(t *testing.T) {
	t.Parallel()
	o, m := provided(t)
	first, email := newPerson()
	second, _ := newPerson()
	who := somebody{subject: uuid.NewString(), email: email, verified: true}
	o.invite(first, email, "Nordic")
	token := o.invite(second, email, "Other")
	_, err := o.identify(m, who, o.visit())
	var refused *IdentityError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, Several, refused.Reason)
	require.NoError(t, o.accept(token, email))
	i, err := o.identify(m, who, o.visit())
	require.NoError(t, err)
	require.Equal(t, second, i.Owner)
	_, err = o.byProvider(i, o.visit())
	require.NoError(t, err)
	require.Len(t, o.mails(second, ownermail.Private+"provider"), 1, "the user is told what signs in from now on")
}
