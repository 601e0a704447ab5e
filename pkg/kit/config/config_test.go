package config_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/config"
)

type shop struct {
	Config string `type:"path"`
	Level  string `enum:"low,high" default:"low" reload:"true"`

	Open struct {
		Doors int           `default:"2" same:"platform"`
		Wait  time.Duration `default:"5m" reload:"true"`
		Names []string      `help:"Names." same:"platform"`
		Late  bool
		Small float64 `default:"0.5"`
		Key   string  `secret:"true" reload:"true"`
		Owner string  `required:"" help:"Who it belongs to."`
		Sign
	} `cmd:""`
	Shut struct {
		Doors int `default:"1"`
	} `cmd:""`
}

// Sign has rules of its own.
type Sign struct {
	Width, Height int
}

// Check says that a sign is not higher than wide.
func (s Sign) Check() error {
	if s.Height > s.Width {
		return errors.Join(fmt.Errorf("--height %d: must be at most --width %d", s.Height, s.Width), errors.New("--width: is too small"))
	}
	return nil
}

func load(t *testing.T, s *shop, args ...string) (*config.Loaded, error) {
	t.Helper()
	return config.Load(s, args, config.Options{Name: "shop", Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
}

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestFileGivesEveryKindOfValue(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"doors: 3\nwait: 90s\nnames: [a, 'b,c', 7]\nlate: true\nsmall: 1\nowner: 'yes'\nlevel: high\nkey:\n",
		"doors: '3'\nwait: 1m30s\nnames:\n- a\n- b,c\n- '7'\nlate: yes\nsmall: 1.0\nowner: yes\nlevel: \"high\"\n",
		`{"doors": 3, "wait": "90s", "names": ["a", "b,c", 7], "late": true, "small": 1, "owner": "yes", "level": "high"}`,
	} {
		var s shop
		_, err := load(t, &s, "open", "--config", file(t, text))
		require.NoError(t, err)
		require.Equal(t, 3, s.Open.Doors)
		require.Equal(t, 90*time.Second, s.Open.Wait)
		require.Equal(t, []string{"a", "b,c", "7"}, s.Open.Names)
		require.True(t, s.Open.Late)
		require.InDelta(t, 1.0, s.Open.Small, 0)
		require.Equal(t, "yes", s.Open.Owner)
		require.Equal(t, "high", s.Level)
	}
	var s shop
	_, err := load(t, &s, "open", "--config", file(t, "# nothing yet\n"), "--owner=me", "--names=a,b")
	require.NoError(t, err)
	require.Equal(t, 2, s.Open.Doors)
	require.Equal(t, []string{"a", "b"}, s.Open.Names)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	bad := file(t, "door: 3\nwait: long\nnames: {a: 1}\nsmall: 1\nsmall: 2\nlate: perhaps\nconfig: x\nheight: 4\nlevel: mid\n")
	for name, row := range map[string]struct {
		args, want []string
	}{
		"flags":           {[]string{"--doors=x", "--wait=1", "--late=perhaps", "--small=a", "--level=mid", "--owner=me"}, []string{`--doors "x": must be an integer`, `--wait "1": must be a duration`, "--late", `--small "a": must be a number`, `--level "mid": must be one of low, high`}},
		"missing":         {nil, []string{"--owner is required: Who it belongs to."}},
		"no value":        {[]string{"--doors", "--wait"}, []string{"--doors: requires a value", "--wait: requires a value", "--owner is required"}},
		"unknown":         {[]string{"--dors=3", "--nope", "5", "--own=me"}, []string{"--dors: unknown flag; did you mean --doors?", "--nope: unknown flag", "--own: unknown flag", "--owner is required"}},
		"together":        {[]string{"--owner=me", "--height=3", "--width=2"}, []string{"--height 3: must be at most --width 2", "--width: is too small"}},
		"not twice":       {[]string{"--owner=me", "--height=x"}, []string{`--height "x": must be an integer`}},
		"no file":         {[]string{"--owner=me", "--config=/nowhere.yaml"}, []string{"--config: open /nowhere.yaml: no such file"}},
		"no YAML":         {[]string{"--owner=me", "--config", file(t, "a: [")}, []string{"invalid YAML: line 1"}},
		"no mapping":      {[]string{"--owner=me", "--config", file(t, "- a")}, []string{"must be a map of flag names"}},
		"masked":          {[]string{"--owner=me", "--key=xxxxx"}, []string{"--key contains a secret masked"}},
		"secret not told": {[]string{"--owner=me", "--key"}, []string{"--key: requires a value"}},
		"file": {[]string{"--owner=me", "--config", bad}, []string{
			bad + " line 1: door is not a setting; did you mean doors?", `--wait "long": must be a duration such as 500ms, 30s or 5m (set by ` + bad + " line 2)",
			"line 3: names must be a value or a list", "line 5: small is already set in line 4", `--late "perhaps": must be true or false (set by`,
			"line 7: config cannot be set in a file", "--height 4: must be at most --width 0 (set by " + bad + " line 8)", `--level "mid": must be one of low, high (set by`,
		}},
		"flag goes before": {[]string{"--config", file(t, "doors: x\nowner: me\nwait: x"), "--doors=1"}, []string{`--wait "x"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s shop
			_, err := load(t, &s, append([]string{"open"}, row.args...)...)
			var fault *config.Fault
			require.ErrorAs(t, err, &fault)
			for _, want := range row.want {
				require.ErrorContains(t, err, want)
			}
			if name != "file" { // where --width is named as well
				require.Len(t, fault.Faults, len(row.want), "%v", fault.Faults)
			}
		})
	}
}

func TestPrintGoesBackIn(t *testing.T) {
	t.Parallel()
	var s, again shop
	l, err := load(t, &s, "open", "--owner=12", "--names=a,b\\,c", "--late", "--key=k3y", "--wait=1h30m0s")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, l.Print(&out))
	require.Equal(t, `level: low # default
doors: 2 # default
wait: 1h30m # flag
names: [a, 'b,c'] # flag
late: true # flag
small: 0.5 # default
key: xxxxx # flag
owner: "12" # flag
width: 0 # default
height: 0 # default
`, out.String())
	_, err = load(t, &again, "open", "--config", file(t, out.String()), "--key=k3y")
	require.NoError(t, err)
	again.Config = ""
	require.Equal(t, s, again)
}

func TestWatcher(t *testing.T) {
	t.Parallel()
	path := file(t, "owner: me\n")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	synctest.Test(t, func(t *testing.T) {
		var s shop
		again := func(to *shop) (*config.Loaded, error) { return load(t, to, "open", "--config", path) }
		now, err := again(&s)
		require.NoError(t, err)
		var log bytes.Buffer
		w := config.NewWatcher(now, again, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})))
		var seen []time.Duration
		w.OnChange(func(next *shop) { seen = append(seen, next.Open.Wait) })
		ask := make(chan os.Signal)
		go func() { _ = w.Run(t.Context(), ask) }()
		step := func(text, want string) {
			t.Helper()
			write(text)
			<-time.After(3 * time.Second)
			synctest.Wait()
			require.Equal(t, want, log.String())
			log.Reset()
		}
		synctest.Wait()
		step("owner: me\n", "")
		step("owner: me\nwait: 7s\nkey: k3y\n", "level=INFO msg=\"settings changed\" settings=\"[wait=7s key=xxxxx]\"\n")
		step("owner: me\nwait: 8\ndoors: x\n", "level=ERROR msg=\"new settings rejected, keeping the old ones\" error=\"--doors \\\"x\\\": must be an integer that fits in 64 bits (set by "+path+" line 3); --wait \\\"8\\\": must be a duration such as 500ms, 30s or 5m (set by "+path+" line 2)\"\n")
		step("owner: you\nwait: 9s\nkey: k3y\n", "level=WARN msg=\"changed settings need a restart\" settings=[owner]\nlevel=INFO msg=\"settings changed\" settings=\"[wait=9s]\"\n")
		step("owner: you\nwait: 10s\nkey: k3y\n", "level=INFO msg=\"settings changed\" settings=\"[wait=10s]\"\n")
		ask <- os.Interrupt
		synctest.Wait()
		step("owner: you\nwait: 10s\nkey: k3y\n", "level=INFO msg=\"settings unchanged\" need_restart=[owner]\n")
		step("owner: me\nwait: 10s\nkey: k3y\n", "level=INFO msg=\"settings unchanged\" need_restart=[]\n")
		require.Equal(t, []time.Duration{7 * time.Second, 9 * time.Second, 10 * time.Second}, seen)
	})
}

// What all processes must have the same of is named as it is in force, and the defaults of a struct can be had without a command line.
func TestSharedSettingsAndDefaults(t *testing.T) {
	t.Parallel()
	var s shop
	loaded, err := load(t, &s, "open", "--owner=me", "--names=a,b", "--config", file(t, "doors: 5\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"doors=5", "names=a,b"}, loaded.Shared())
	type shed struct {
		Wait time.Duration `default:"5m"`
		Name string
	}
	require.Equal(t, shed{Wait: 5 * time.Minute}, config.Defaults[shed]())
}
