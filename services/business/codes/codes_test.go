package codes_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/codes"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// What all resources have in common is tested by TestEveryResourceLives in services/roles.
func TestDirectories(t *testing.T) {
	t.Parallel()
	server := apitest.New(t, dbtest.Open(t), codes.New(dbtest.Open(t)).Register)
	for at, entity := range map[string]string{"/channels": "CHANNEL", "/delivery-methods": "DELIVERY_METHOD"} {
		c := server.Company()
		list := func() (all []string) {
			var entries []struct {
				Code      string
				CompanyID *string
			}
			c.Do(t, "GET", at, nil).Decode(&entries)
			for _, e := range entries {
				require.Equal(t, len(all) < 3, e.CompanyID == nil, "built-in ones first")
				all = append(all, e.Code)
			}
			return all
		}
		builtIn := list()
		require.Len(t, builtIn, 3)
		require.Equal(t, map[string]string{"code": "FORMAT", "name": "REQUIRED"}, c.Do(t, "POST", at, `{"code":"In stagram"}`).Fields())
		c.Do(t, "POST", at, `{"code":"`+builtIn[0]+`","name":"x"}`).Fault(409, entity+"_CODE_TAKEN")
		id := c.Do(t, "POST", at, `{"code":"zeppelin","name":"Zeppelin"}`).OK(201)["id"].(string)
		c.Do(t, "POST", at, `{"code":"albatross","name":"Albatross"}`).OK(201)
		c.Do(t, "POST", at, `{"code":"zeppelin","name":"Another"}`).Fault(409, entity+"_CODE_TAKEN")
		server.Company().Do(t, "POST", at, `{"code":"zeppelin","name":"Theirs"}`).OK(201)
		c.Do(t, "PATCH", at+"/"+id, `{"code":"other"}`).Fault(409, entity+"_CODE_FIXED")
		require.Equal(t, false, c.Do(t, "PATCH", at+"/"+id, `{"isActive":false}`).OK(200)["isActive"])
		require.Equal(t, append(builtIn, "albatross", "zeppelin"), list())
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	c := apitest.New(t, d, codes.New(d).Register).Company()
	_, err := d.Exec(t.Context(), `INSERT INTO channels (company_id, id, code, name, is_active, version, ev_pos, created_at, updated_at)
SELECT $1, gen_random_uuid(), 'c' || g, 'Channel', true, 1, 1, now(), now() FROM generate_series(1, 199) AS g`, c.Principal.Company)
	require.NoError(t, err)
	c.Do(t, "POST", "/channels", `{"code":"last","name":"Last"}`).OK(201)
	fault := c.Do(t, "POST", "/channels", `{"code":"more","name":"More"}`).Fault(409, "CHANNEL_LIMIT_REACHED")
	require.Equal(t, map[string]any{"limit": 200.0}, fault["meta"])
}

// Built-in codes, and those that a document has already, are not looked up.
func TestCodes(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	c := apitest.New(t, d, codes.New(d).Register).Company()
	c.Do(t, "POST", "/channels", `{"code":"instagram","name":"Instagram"}`).OK(201)
	off := c.Do(t, "POST", "/channels", `{"code":"fax","name":"Fax"}`).OK(201)["id"].(string)
	c.Do(t, "PATCH", "/channels/"+off, `{"isActive":false}`).OK(200)
	for _, known := range []string{"manual", "public_link", "phone"} {
		require.Empty(t, codes.Channel(c.Principal.Company, "channel", nil, &known))
	}
	require.Empty(t, codes.Channel(c.Principal.Company, "channel", new("phone"), nil))
	require.Empty(t, codes.Channel(c.Principal.Company, "channel", new("fax"), new("fax")))
	check := func(code string) error {
		return batchloader.Load(t.Context(), d, codes.Channel(c.Principal.Company, "channel", new("phone"), &code)...)
	}
	require.NoError(t, check("instagram"))
	const rest = "se one of manual, public_link, phone, instagram, or add it with POST /channels"
	for code, want := range map[string]string{
		"instagam": `"instagam" is not an active channel of the company; did you mean "instagram"? U` + rest,
		"fax":      `"fax" is not an active channel of the company; u` + rest,
	} {
		require.ErrorContains(t, check(code), want)
	}
	for i := range 30 {
		c.Do(t, "POST", "/channels", fmt.Sprintf(`{"code":"c%02d","name":"x"}`, i)).OK(201)
	}
	require.ErrorContains(t, check("xxxxxx"), "c16, …, or add it", "a long list is cut off")
}
