package chart

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// binary builds the program of this tree.
var binary = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // built once
	path := filepath.Join(schemaDir, "tradegrid")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./cmd/tradegrid")
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// The real program takes every command line, environment and configuration file that the chart makes,
// and finds every file that it is pointed to.
func TestBinaryTakesWhatTheChartSays(t *testing.T) {
	t.Parallel()
	for _, name := range matrix(t) {
		r := render(t, name)
		for _, o := range r.Objects {
			for i, c := range containers(o) {
				if image, _ := c["image"].(string); !strings.Contains(image, "tradegrid") {
					continue
				}
				t.Run(strings.Join([]string{name, o.Kind(), o.Name(), At(c, "name").(string)}, "/"), func(t *testing.T) {
					t.Parallel()
					inForce := printConfig(t, mounted(t, r, o, c), containers(o)[i])
					if config, ok := r.Find("ConfigMap", o.Name()); ok && o.Kind() != "Job" && At(c, "name") == "tradegrid" {
						fromFile(t, config, inForce)
					}
				})
			}
		}
	}
}

// mounted is a folder in place of /etc/tradegrid, with what a container's volumes hold.
func mounted(t *testing.T, r *Rendered, o Object, c map[string]any) string {
	t.Helper()
	root := t.TempDir()
	write := func(path string, data []byte) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), data, 0o600))
	}
	paths := map[string]string{}
	for _, m := range asList(c["volumeMounts"]) {
		if path, ok := strings.CutPrefix(At(m, "mountPath").(string), "/etc/tradegrid/"); ok {
			paths[At(m, "name").(string)] = path
		}
	}
	for _, v := range asList(At(pod(o), "spec", "volumes")) {
		folder, ok := paths[At(v, "name").(string)]
		if !ok {
			continue
		}
		if name, ok := At(v, "configMap", "name").(string); ok {
			key := "config.yaml"
			for _, item := range asList(At(v, "configMap", "items")) {
				key = At(item, "key").(string)
			}
			write(folder+"/config.yaml", []byte(At(find(t, r, "ConfigMap", name).Doc, "data").(map[string]any)[key].(string)))
		}
		for _, s := range asList(At(v, "projected", "sources")) {
			for _, item := range asList(At(s, "secret", "items")) {
				path := folder + "/" + At(item, "path").(string)
				write(path, secret(t, path))
			}
		}
	}
	return root
}

// secret is what a Secret could hold under the name of a file.
func secret(t *testing.T, name string) []byte {
	t.Helper()
	switch name {
	case "mail/url":
		return []byte("smtp://user:word@mail.example.com:587\n")
	case "database/url":
		return []byte("postgres://user:word@host:26257/name?sslmode=verify-full\n")
	case "database/password", "kafka/password":
		return []byte("word\n")
	case "operators/tokens":
		return []byte("somebody:write:" + strings.Repeat("0", 64) + "\n")
	case "webhooks/keys":
		return []byte("2026-11:" + base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n")
	}
	files, err := pair()
	require.NoError(t, err)
	if strings.HasSuffix(name, "/tls.key") {
		return files.key
	}
	return files.certificate
}

// pem files of one certificate and its key.
type pemPair struct{ certificate, key []byte }

// pair is made once: a certificate belongs to its key alone.
var pair = sync.OnceValues(func() (pemPair, error) { //nolint:gochecknoglobals // made once
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pemPair{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return pemPair{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	return pemPair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, err
})

// printConfig asks the program what would be in force in a container.
func printConfig(t *testing.T, root string, c map[string]any) map[string]any {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.Command(path, append(command(t, c, root), "--print-config")...)
	cmd.Env = environment(t, c, root)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s: %s", cmd, stderr.String())
	for name := range env(c) {
		// The cell is for whoever runs admin in the pod; init containers have the environment of the role.
		if strings.HasPrefix(name, "TRADEGRID_") && name != "TRADEGRID_CELL" && c["name"] == "tradegrid" {
			require.Contains(t, stdout.String(), "environment "+name+"\n", "the program knows no such variable")
		}
	}
	var inForce map[string]any
	require.NoError(t, yaml.Unmarshal(stdout.Bytes(), &inForce))
	return inForce
}

// command is what a container runs, with a folder in place of /etc/tradegrid.
func command(t *testing.T, c map[string]any, root string) []string {
	t.Helper()
	var args []string
	for _, a := range asList(c["args"]) {
		args = append(args, strings.ReplaceAll(a.(string), "/etc/tradegrid/", root+"/"))
	}
	return args
}

// environment is what the program reads of a container's, with a folder in place of /etc/tradegrid that has the files which it names.
func environment(t *testing.T, c map[string]any, root string) []string {
	t.Helper()
	all := []string{}
	for name, value := range env(c) {
		if strings.HasPrefix(name, "TRADEGRID_") {
			value = strings.ReplaceAll(value, "/etc/tradegrid/", root+"/")
			value = strings.ReplaceAll(value, url.QueryEscape("/etc/tradegrid/"), url.QueryEscape(root+"/"))
			all = append(all, name+"="+value)
			requireFiles(t, root, value)
		}
	}
	return all
}

// requireFiles looks for the files that a setting names, certificates in the database's URL included.
func requireFiles(t *testing.T, root, value string) {
	t.Helper()
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("?&=", r) }) {
		path, err := url.QueryUnescape(part)
		require.NoError(t, err)
		if strings.HasPrefix(path, root) {
			require.FileExists(t, path)
		}
	}
}

// fromFile sees that what the ConfigMap says is in force: nothing else overrides it.
func fromFile(t *testing.T, config Object, inForce map[string]any) {
	t.Helper()
	var file map[string]any
	require.NoError(t, yaml.UnmarshalStrict([]byte(At(config.Doc, "data", "config.yaml").(string)), &file))
	for key, value := range file {
		if text, ok := value.(string); ok {
			if d, err := time.ParseDuration(text); err == nil {
				got, err := time.ParseDuration(inForce[key].(string))
				require.NoError(t, err, key)
				require.Equal(t, d, got, key)
				continue
			}
		}
		require.EqualValues(t, value, inForce[key], key)
	}
}

// The chart knows the flags of each role, and so refuses those of others, and typing errors, before anything changes.
func TestFlagsAreUpToDate(t *testing.T) {
	t.Parallel()
	path, err := binary()
	require.NoError(t, err)
	all := map[string][]string{}
	for _, role := range []string{"api", "console", "dispatcher", "relay", "run"} {
		cmd := exec.Command(path, role, "--print-config")
		cmd.Env = []string{}
		out, _ := cmd.Output() // required flags are missing, which is no matter here
		for _, key := range regexp.MustCompile(`(?m)^([a-z0-9-]+):`).FindAllStringSubmatch(string(out), -1) {
			all[role] = append(all[role], key[1])
		}
		require.Contains(t, all[role], "log-level", role)
	}
	text, err := yaml.Marshal(all)
	require.NoError(t, err)
	want := "# The flags of each role. Written by `make chart-docs`.\n" + string(text)
	file := filepath.Join(Folder, "flags.yaml")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, read(t, file), "run make chart-docs")
}

// The database's URL says what the values say, whatever letters names have.
func TestDatabaseURL(t *testing.T) {
	t.Parallel()
	o := find(t, render(t, "certificates", "database.user=a b/c"), "Deployment", "tg-tradegrid-api")
	u, err := url.Parse(env(containers(o)[0])["TRADEGRID_DATABASE_URL"])
	require.NoError(t, err)
	require.Equal(t, "a b/c", u.User.Username())
	require.Equal(t, "cockroachdb-public.database.svc.cluster.local:26257", u.Host)
	require.Equal(t, "/trade grid", u.Path)
	require.Equal(t, url.Values{
		"sslmode": {"verify-full"}, "sslrootcert": {"/etc/tradegrid/database/ca.crt"}, "sslcert": {"/etc/tradegrid/database/tls.crt"},
		"sslkey": {"/etc/tradegrid/database/tls.key"}, "application_name": {"tradegrid"}, "connect_timeout": {"10"},
	}, u.Query())
}

// `kubectl exec … /tradegrid admin` works in a role's pod without any flag about the database, in the cell of the release.
func TestAdminInAPod(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"minimal", "full", "certificates", "evaluation"} {
		r := render(t, name, "cell=z9")
		o := roles(r)[0]
		c := containers(o)[len(containers(o))-1]
		c["args"], c["name"] = []any{"admin", "company", "create", "--name=First"}, "admin"
		require.Equal(t, "z9", printConfig(t, mounted(t, r, o, c), c)["cell"], name)
	}
}
