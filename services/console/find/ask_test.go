package find

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbersAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1048": "1048", "№ 1048": "1048", "#1048": "1048", "No. 1 048": "1048", "nr 7": "7", "1,048": "1048", "1'048": "1048", "1\u00a0048": "1048",
		"": "", "№": "", "0": "", "007": "", "-5": "", "12a": "", "99999999999999999999": "", "S-12": "", "+49 30": "",
	} {
		got, ok := numberOf(text)
		if !ok {
			got = ""
		}
		require.Equal(t, want, got, text)
	}
}

func TestPhoneNumbersInAnySpelling(t *testing.T) {
	t.Parallel()
	kept := record{"phone": json.RawMessage(`"+49 30 23125 707"`)}
	for _, text := range []string{"+493023125707", "0049 30 23125707", "030/23125-707", "+49 (0)30 23125 707", "(030) 231 257 07", "23125707"} {
		require.True(t, isPhone(text), text)
		require.True(t, kept.hasContact(text, "+49"), text)
	}
	for _, text := range []string{"+49 30 23125 708", "25707", "+49 31 23125 707"} {
		require.False(t, kept.hasContact(text, "+49"), text)
	}
	for _, text := range []string{"1234", "12a345", "anna@example.com", "AC-0004"} {
		require.False(t, isPhone(text), text)
	}
	require.False(t, record{}.hasContact("+493023125707", "+49"))
	london := record{"phone": json.RawMessage(`"07911 123456"`)}
	require.True(t, london.hasContact("+44 7911 123456", "+44"))
	mail := record{"email": json.RawMessage(`"Anna@Example.com"`)}
	require.True(t, mail.hasContact("anna@example.com", "+49"))
	require.False(t, mail.hasContact("ann@example.com", "+49"))
}

func TestOneCertainRecordLeadsToItsPage(t *testing.T) {
	t.Parallel()
	sure, like := hit{href: "/a", sure: true}, hit{href: "/b"}
	for name, row := range map[string]struct {
		hits []hit
		want string
	}{
		"nothing":          {nil, ""},
		"a similar one":    {[]hit{like}, ""},
		"beside similar":   {[]hit{like, sure}, "/a"},
		"two certain ones": {[]hit{sure, {href: "/c", sure: true}}, ""},
		"twice the same":   {[]hit{{href: "/a"}, sure, sure}, "/a"},
	} {
		require.Equal(t, row.want, certain(hitsOf([]found{{hits: row.hits}})), name)
	}
}
