package requests_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/services/platform/requests"
)

// Refused requests are counted by their code, each with its latest; what succeeds is not among them.
func TestErrorsByCode(t *testing.T) {
	t.Parallel()
	k := setup(t)
	k.Do(t, "POST", "/things", `{"name":"one"}`).OK(201)
	for range 3 {
		require.Equal(t, 409, k.Do(t, "POST", "/things", `{"name":"taken"}`).Status)
	}
	require.Equal(t, 404, k.Do(t, "GET", "/things/00000000-0000-7000-8000-000000000001", nil).Status)
	last := k.Do(t, "GET", "/things/00000000-0000-7000-8000-000000000002", nil)
	require.Equal(t, 404, last.Status)
	k.written()
	s := requests.New(requests.Config{DB: k.db})
	who := *k.Principal
	by := access.Caller{Principal: &who}
	got, err := s.Errors(t.Context(), by, requests.Query{})
	require.NoError(t, err)
	require.False(t, got.More)
	require.Len(t, got.Groups, 2)
	require.Equal(t, "THING_EXISTS", got.Groups[0].Code)
	require.Equal(t, int64(3), got.Groups[0].Count)
	require.Equal(t, "THING_NOT_FOUND", got.Groups[1].Code)
	require.Equal(t, int64(2), got.Groups[1].Count)
	require.Equal(t, last.Header.Get("X-Request-Id"), got.Groups[1].Latest.RequestID)

	none := uuid.New()
	got, err = s.Errors(t.Context(), by, requests.Query{TokenID: &none})
	require.NoError(t, err)
	require.Empty(t, got.Groups)
	by.Scopes, by.TokenID = access.Scopes{"company:read"}, uuid.New()
	got, err = s.Errors(t.Context(), by, requests.Query{Method: "POST"})
	require.NoError(t, err)
	require.Len(t, got.Groups, 1)
	require.Nil(t, got.Groups[0].Latest.Path, "the caller may not read orders")
}
