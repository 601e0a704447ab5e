package accounts

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
)

// mails are the texts of the mails of a kind to a user.
func (o *office) mails(owner Owner, kind string) []string {
	o.t.Helper()
	rows, err := o.cfg.DB.Query(o.t.Context(), `SELECT body FROM notices WHERE company_id = $1 AND kind = $2 ORDER BY created_at`, owner.Company, kind)
	require.NoError(o.t, err)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(o.t, err)
	return texts
}

// Whoever has got into an account leaves a trace in the mailbox of its owner, for each change once.
func TestWeakerSignInsAreMailed(t *testing.T) {
	t.Parallel()
	o := setup(t)
	owner, email, v := o.person()
	mailed := func(kind string) []string { return o.mails(owner, ownermail.Private+kind) }
	require.Empty(t, mailed("password"))
	require.NoError(t, o.tx(func(ctx context.Context, tx *db.Tx) error {
		return o.SetPassword(ctx, tx, owner, email, hashedWord.Password)
	}))
	texts := mailed("password")
	require.Len(t, texts, 1)
	require.Contains(t, texts[0], o.cfg.URL+"/sign-in/forgot. ")
	require.Contains(t, texts[0], o.cfg.URL+"/account")

	remove := func() {
		require.NoError(t, o.tx(func(ctx context.Context, tx *db.Tx) error { return o.RemoveTOTP(ctx, tx, owner, email) }))
	}
	remove()
	require.Empty(t, mailed("totp"), "none was on")
	stranger := Owner{owner.Company, uuid.New()}
	require.NoError(t, o.tx(func(ctx context.Context, tx *db.Tx) error { return o.RemoveTOTP(ctx, tx, stranger, "by.link@"+email) }), "an account without credentials")
	o.turnOnTOTP(owner, email)
	e, err := o.SignIn(t.Context(), Credentials{email, word}, v)
	require.NoError(t, err)
	require.True(t, e.NeedsCode())
	remove()
	remove()
	require.Len(t, mailed("totp"), 1)
	security, err := o.Security(t.Context(), owner)
	require.NoError(t, err)
	require.Equal(t, Security{Email: email, HasPassword: true}, security)
	e, err = o.SignIn(t.Context(), Credentials{email, word}, v)
	require.NoError(t, err)
	require.False(t, e.NeedsCode(), "the password alone signs in")
}
