package company

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// member is an active user with a role.
func member(t *testing.T, s office, company tenant.ID, role string) User {
	t.Helper()
	u, err := s.InviteUser(t.Context(), company, uuid.Nil, Invitation{Email: uuid.NewString() + "@example.com", Name: role, Role: role})
	require.NoError(t, err)
	u, err = s.ActivateUser(t.Context(), company, u.ID, uuid.Nil)
	require.NoError(t, err)
	return u
}

func TestChangeOfAUser(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c, other := create(t, s, NewCompany{}), create(t, s, NewCompany{})
	u := member(t, s, c.ID, RoleViewer)
	got, err := s.UpdateUser(t.Context(), c.ID, u.ID, UserFields{Name: new(" Kim "), Role: new(RoleDeveloper)}, "name", "role")
	require.NoError(t, err)
	require.Equal(t, []string{"Kim", RoleDeveloper}, []string{*got.Name, *got.Role})
	again, err := s.UpdateUser(t.Context(), c.ID, u.ID, UserFields{Name: new("Kim")}, "name")
	require.NoError(t, err)
	require.Equal(t, got.Version, again.Version, "what changes nothing raises nothing")
	list := facts(t, s.cfg.DB, c.ID)
	require.Len(t, list, 3)
	require.Equal(t, "user.updated", list[2].Event)
	var body struct {
		Data struct {
			UserData
			ChangedFields []string
		}
	}
	require.NoError(t, json.Unmarshal(list[2].Payload, &body))
	require.ElementsMatch(t, []string{"name", "role"}, body.Data.ChangedFields)
	require.Equal(t, RoleDeveloper, *body.Data.Role)

	_, err = s.UpdateUser(t.Context(), other.ID, u.ID, UserFields{Name: new("x")}, "name")
	requireFault(t, err, 404, "USER_NOT_FOUND")
	_, err = s.UpdateUser(t.Context(), c.ID, u.ID, UserFields{Name: new(strings.Repeat("x", 256)), Role: new(strings.Repeat("x", 65))}, "name", "role")
	requireFault(t, err, 400, "VALIDATION_ERROR")
	technical := issue(t, s, c.ID, NewToken{}).ActorID
	_, err = s.UpdateUser(t.Context(), c.ID, technical, UserFields{Name: new("x")}, "name")
	requireFault(t, err, 409, "USER_IS_TECHNICAL")
}

func TestWhoChangesWhom(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{})
	people := map[string]User{}
	for _, role := range Roles() {
		people[role] = member(t, s, c.ID, role)
	}
	second := member(t, s, c.ID, RoleOwner)
	as := func(role string) Editor { return Editor{ID: people[role].ID, Role: role} }
	role := func(who Editor, of User, to string) error {
		_, err := s.UpdatePerson(t.Context(), c.ID, who, of.ID, UserFields{Role: new(to)}, "role")
		return err
	}
	require.NoError(t, role(as(RoleAdmin), people[RoleViewer], RoleDeveloper))
	requireFault(t, role(as(RoleAdmin), people[RoleViewer], RoleOwner), 403, "AUTH_API_SCOPE_INSUFFICIENT")
	requireFault(t, role(as(RoleAdmin), second, RoleViewer), 403, "AUTH_API_SCOPE_INSUFFICIENT")
	requireFault(t, role(as(RoleAdmin), people[RoleViewer], "sales"), 400, "VALIDATION_ERROR")
	requireFault(t, role(as(RoleAdmin), people[RoleAdmin], RoleViewer), 409, "USER_IS_SELF")
	requireFault(t, role(as(RoleOwner), people[RoleOwner], RoleViewer), 409, "USER_IS_SELF")
	_, err := s.UpdatePerson(t.Context(), c.ID, as(RoleAdmin), second.ID, UserFields{Name: new("x")}, "name")
	requireFault(t, err, 403, "AUTH_API_SCOPE_INSUFFICIENT")
	_, err = s.UpdatePerson(t.Context(), c.ID, as(RoleAdmin), people[RoleAdmin].ID, UserFields{Name: new("Ann")}, "name")
	require.NoError(t, err, "one's own name is one's own")
	require.NoError(t, role(as(RoleOwner), second, RoleAdmin))
	operator := Editor{Role: "operator:write"}
	requireFault(t, role(operator, people[RoleOwner], RoleAdmin), 409, "USER_IS_LAST_OWNER")
	_, err = s.UpdateUser(t.Context(), c.ID, people[RoleOwner].ID, UserFields{}, "role")
	requireFault(t, err, 409, "USER_IS_LAST_OWNER")
	require.NoError(t, role(operator, second, RoleOwner))
	require.NoError(t, role(operator, people[RoleOwner], RoleAdmin))
	sales := member(t, s, c.ID, "sales")
	_, err = s.UpdatePerson(t.Context(), c.ID, as(RoleAdmin), sales.ID, UserFields{Name: new("Sam"), Role: new("sales")}, "name", "role")
	require.NoError(t, err, "a role that stays need not be one of the console")
}

// Nobody blocks the last active owner: not an operator, and not the admin API. A blocked or invited owner is none.
func TestTheLastOwnerIsNotBlocked(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c, other := create(t, s, NewCompany{}), create(t, s, NewCompany{})
	member(t, s, other.ID, RoleOwner)
	first, second := member(t, s, c.ID, RoleOwner), member(t, s, c.ID, RoleOwner)
	_, err := s.InviteUser(t.Context(), c.ID, uuid.Nil, Invitation{Email: "new@example.com", Role: RoleOwner})
	require.NoError(t, err)
	operator := Editor{Role: "operator:write"}
	got, err := s.BlockPerson(t.Context(), c.ID, operator, first.ID)
	require.NoError(t, err)
	require.Equal(t, UserBlocked, got.Status)
	_, err = s.BlockUser(t.Context(), c.ID, first.ID, uuid.Nil)
	require.NoError(t, err, "a repeat changes nothing")
	_, err = s.BlockPerson(t.Context(), c.ID, operator, second.ID)
	requireFault(t, err, 409, "USER_IS_LAST_OWNER")
	_, err = s.BlockUser(t.Context(), c.ID, second.ID, uuid.Nil)
	requireFault(t, err, 409, "USER_IS_LAST_OWNER")
	_, err = s.ActivateUser(t.Context(), c.ID, first.ID, uuid.Nil)
	require.NoError(t, err)
	_, err = s.BlockUser(t.Context(), c.ID, second.ID, uuid.Nil)
	require.NoError(t, err)
}

// Owners who take the role from each other, or block each other, at the same time leave one. So do operators.
func TestOwnersDoNotRemoveEachOther(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	demote := func(c tenant.ID, who Editor, of uuid.UUID) error {
		_, err := s.UpdatePerson(t.Context(), c, who, of, UserFields{Role: new(RoleAdmin)}, "role")
		return err
	}
	block := func(c tenant.ID, who Editor, of uuid.UUID) error {
		_, err := s.BlockPerson(t.Context(), c, who, of)
		return err
	}
	type way func(c tenant.ID, who Editor, of uuid.UUID) error
	for name, ways := range map[string][]way{"role": {demote, demote, demote}, "block": {block, block}, "block each other": {block, block, block}, "both": {demote, block, demote}} {
		for range 5 {
			c := create(t, s, NewCompany{})
			owners := make([]User, len(ways))
			for i := range owners {
				owners[i] = member(t, s, c.ID, RoleOwner)
			}
			var wg sync.WaitGroup
			var refused atomic.Int32
			for i, u := range owners {
				who := Editor{ID: owners[(i+1)%len(owners)].ID, Role: RoleOwner}
				wg.Go(func() {
					if err := ways[i](c.ID, who, u.ID); apierr.Is(err, "USER_IS_LAST_OWNER") {
						refused.Add(1)
					} else if err != nil {
						t.Errorf("%s: unexpected: %v", name, err)
					}
				})
			}
			wg.Wait()
			require.EqualValues(t, 1, refused.Load(), name)
		}
	}
}
