package company

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Only active people with the role of an owner, in whatever letters, get the notices of their company.
func TestOwners(t *testing.T) {
	t.Parallel()
	o, _ := setup(t)
	read := func(id tenant.ID, limit int) []string {
		t.Helper()
		name, addresses, err := Owners(t.Context(), o.cfg.DB, id, limit)
		require.NoError(t, err)
		return append([]string{name}, addresses...)
	}
	require.Equal(t, []string{""}, read(tenant.NewID(), 10), "there is no such company")
	c := create(t, o, NewCompany{Name: "Nordic"})
	require.Equal(t, []string{"Nordic"}, read(c.ID, 10))
	add := func(name, role, status string) {
		t.Helper()
		u, err := o.InviteUser(t.Context(), c.ID, uuid.Nil, Invitation{Email: name + "@example.com", Role: role})
		require.NoError(t, err)
		_, err = o.cfg.DB.Exec(t.Context(), `UPDATE users SET status = $3 WHERE company_id = $1 AND id = $2`, c.ID, u.ID, status)
		require.NoError(t, err)
	}
	for i, role := range []string{"owner", "Owner", "owner"} {
		add(fmt.Sprintf("owner%d", i), role, UserActive)
	}
	add("sales", "sales", UserActive)
	add("gone", "owner", UserBlocked)
	add("new", "owner", UserInvited)
	other := create(t, o, NewCompany{Name: "Other"})
	_, err := o.cfg.DB.Exec(t.Context(), `INSERT INTO users (company_id, id, email, role, status, is_technical, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, 'robot@example.com', 'owner', 'active', true, 1, 1, now(), now())`, c.ID, uuid.New())
	require.NoError(t, err)
	require.Equal(t, []string{"Nordic", "owner0@example.com", "owner1@example.com", "owner2@example.com"}, read(c.ID, 10))
	require.Equal(t, []string{"Nordic", "owner0@example.com", "owner1@example.com"}, read(c.ID, 2))
	require.Equal(t, []string{"Other"}, read(other.ID, 10))
}
