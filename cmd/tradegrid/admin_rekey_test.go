package main

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// From the API to the command line: a secret under one key, brought under another, and still the same.
func TestAdminRekey(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	caller, company := n.Owner(t)
	id := caller.OK(t, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:9/hook","events":["*"]}`).ID(t)
	next := secret.NewKey("next")

	out, err := runAdmin(t, "rekey", "--secret-keys-file="+keysFile(t, next))
	require.ErrorContains(t, err, "cannot be opened", "the old key is still needed")
	require.Regexp(t, `(?m)^KEY +SUBSCRIPTIONS +MOVED +CURRENT +CHANGED +FAILED$`, out)

	text, last := webhook.NewSecret(), secret.NewKey("last") // only this subscription is under it: others of this database stay as they are
	keys, err := secret.ParseKeys(last)
	require.NoError(t, err)
	stored, err := webhook.SealSecret(keys, company, uuid.MustParse(id), text)
	require.NoError(t, err)
	_, err = n.DB.Exec(t.Context(), `UPDATE webhook_subscriptions SET secret = $3 WHERE company_id = $1 AND id = $2`, company, id, stored)
	require.NoError(t, err)
	_, err = runAdmin(t, "rekey", "--secret-keys-file="+keysFile(t, next, last))
	if err != nil {
		require.ErrorContains(t, err, "cannot be opened")
	}
	require.NoError(t, n.DB.QueryRow(t.Context(), `SELECT secret FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`, company, id).Scan(&stored))
	require.Contains(t, string(stored), "enc1:next:")
	keys, err = secret.ParseKeys(next)
	require.NoError(t, err)
	opened, err := stored.Open(keys, company, uuid.MustParse(id))
	require.NoError(t, err)
	require.Equal(t, text, opened)

	_, err = runAdmin(t, "rekey")
	require.ErrorContains(t, err, "--secret-keys-file is required")
	_, err = runAdmin(t, "rekey", "--batch=0", "--secret-keys-file="+keysFile(t, next))
	require.ErrorContains(t, err, "--batch 0")
}
