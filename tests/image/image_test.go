// Package image checks how the platform is packed: the Dockerfile, and the compose file that runs all of it on one
// machine. It needs no container engine: what it cannot do is start them.
package image

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

const root = "../.."

// stages parses the Dockerfile as the builder does.
func stages(t *testing.T) (found []instructions.Stage, warnings []string) {
	t.Helper()
	file, err := os.Open(filepath.Join(root, "Dockerfile"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	parsed, err := parser.Parse(file)
	require.NoError(t, err)
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, _ []parser.Range) {
		warnings = append(warnings, rule+": "+message)
	}})
	found, _, err = instructions.Parse(parsed.AST, lint)
	require.NoError(t, err)
	return found, warnings
}

func TestDockerfileParsesWithoutWarnings(t *testing.T) {
	t.Parallel()
	found, warnings := stages(t)
	require.Empty(t, warnings)
	require.Len(t, found, 2)
	last := found[len(found)-1]
	require.Equal(t, "scratch", last.BaseName, "nothing but the binary")
	var user, entry string
	for _, c := range last.Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			user = c.User
		case *instructions.EntrypointCommand:
			entry = strings.Join(c.CmdLine, " ")
		case *instructions.RunCommand:
			t.Errorf("nothing can run in an image without a shell: %s", c)
		}
	}
	require.Regexp(t, `^[1-9][0-9]*:[1-9][0-9]*$`, user, "a number that is not root's")
	require.Equal(t, "/tradegrid", entry)
}

// What the build needs must get through .dockerignore and be copied: all packages of the program live in what is copied.
func TestDockerfileCopiesWhatTheProgramIsMadeOf(t *testing.T) {
	t.Parallel()
	found, _ := stages(t)
	copied := map[string]bool{}
	for _, c := range found[0].Commands {
		if c, ok := c.(*instructions.CopyCommand); ok {
			for _, source := range c.SourcePaths {
				copied[source] = true
			}
		}
	}
	ignore, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	require.NoError(t, err)
	for source := range copied {
		require.Contains(t, string(ignore), "\n!"+source+"\n", "copied, but not sent to the builder")
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if .Module}}{{if .Module.Main}}{{.ImportPath}}{{end}}{{end}}", "./cmd/tradegrid")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	for path := range strings.FieldsSeq(string(out)) {
		if path == "github.com/tradegrid/tradegrid" {
			path += "/changelog.go"
		}
		dir, _, _ := strings.Cut(strings.TrimPrefix(path, "github.com/tradegrid/tradegrid/"), "/")
		require.True(t, copied[dir], "%s is not copied", path)
	}
}

// goBuild is the command of the Dockerfile that builds the program, for an architecture.
func goBuild(t *testing.T, arch string) (args []string) {
	t.Helper()
	found, _ := stages(t)
	for _, c := range found[0].Commands {
		run, ok := c.(*instructions.RunCommand)
		if !ok || !strings.Contains(strings.Join(run.CmdLine, " "), "go build") {
			continue
		}
		text := strings.NewReplacer("${TARGETOS}", "linux", "${TARGETARCH}", arch, "${RELEASE}", "check", "\\\n", " ").Replace(strings.Join(run.CmdLine, " "))
		return []string{"-c", text}
	}
	t.Fatal("the Dockerfile builds no program")
	return nil
}

// The Dockerfile's own command builds a static program.
func TestProgramIsStatic(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "tradegrid")
	build := exec.CommandContext(t.Context(), "sh", goBuild(t, runtime.GOARCH)...)
	build.Args[2] = strings.Replace(build.Args[2], "/out/tradegrid", out, 1)
	build.Dir = root
	build.Env = append(os.Environ(), "GOFLAGS=") // as in the image, whatever flags this machine builds with
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	info, err := exec.CommandContext(t.Context(), "go", "version", "-m", out).Output()
	require.NoError(t, err)
	require.Contains(t, string(info), "GOARCH="+runtime.GOARCH)
	require.Contains(t, string(info), "CGO_ENABLED=0")
	require.Contains(t, string(info), "-trimpath=true")
	raw, err := os.ReadFile(out)
	require.NoError(t, err)
	here, err := filepath.Abs(root)
	require.NoError(t, err)
	require.NotContains(t, string(raw), here+"/", "the program tells where it was built")
}

// What is built for one architecture can be built for the others: the program is made of the same files, and each package that it
// needs has some. `make release` compiles it for all of them.
func TestProgramIsTheSameForEachArchitecture(t *testing.T) {
	t.Parallel()
	files := func(arch string) string {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if .Module}}{{if .Module.Main}}{{.ImportPath}}: {{.GoFiles}} {{.SFiles}}{{end}}{{end}}", "./cmd/tradegrid")
		list.Dir = root
		list.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
		out, err := list.Output()
		require.NoError(t, err, arch)
		return string(out)
	}
	require.Contains(t, files("amd64"), "github.com/tradegrid/tradegrid/cmd/tradegrid: [")
	require.Equal(t, files("amd64"), files("arm64"))
}

// project loads the compose file, all profiles included.
func project(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "compose.yaml")}, cli.WithProfiles([]string{"*"}), cli.WithResolvedPaths(true))
	require.NoError(t, err)
	p, err := options.LoadProject(context.Background())
	require.NoError(t, err)
	return p
}

var pinned = regexp.MustCompile(`:v?[0-9]+\.[0-9]+\.[0-9]+$`)

func TestComposeFileHoldsTogether(t *testing.T) {
	t.Parallel()
	p := project(t)
	ports := map[string]string{}
	for name, s := range p.Services {
		if s.Build == nil {
			require.Regexp(t, pinned, s.Image, "%s: an image of a known version", name)
		}
		for _, port := range s.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, "%s: not for others", name)
			require.Empty(t, ports[port.Published], "%s and %s share a port", name, ports[port.Published])
			ports[port.Published] = name
		}
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeBind {
				_, err := os.Stat(v.Source)
				require.NoError(t, err, name)
			}
		}
		for other, on := range s.DependsOn {
			if on.Condition == types.ServiceConditionHealthy {
				require.NotNil(t, p.Services[other].HealthCheck, "%s waits for the health of %s", name, other)
			}
		}
	}
	nodes := func(image string) (n int) {
		for _, s := range p.Services {
			if strings.HasPrefix(s.Image, image) && s.HealthCheck != nil {
				n++
			}
		}
		return n
	}
	require.Equal(t, 3, nodes("cockroachdb/"))
	require.Equal(t, 3, nodes("apache/kafka:"))
}

// builtAs is the release that the program of these tests says it is.
const builtAs = "1.2.3"

// workDir is removed after the last test.
var workDir string //nolint:gochecknoglobals // made once

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "tradegrid-image-")
	if err != nil {
		panic(err)
	}
	workDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

var program = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // built once
	path := filepath.Join(workDir, "tradegrid")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X github.com/tradegrid/tradegrid/services/roles.Release="+builtAs, "-o", path, "./cmd/tradegrid")
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(said))
	}
	return path, nil
})

// configFiles writes the configs of the compose file that a service mounts, and tells where by the path in the container.
func configFiles(t *testing.T, p *types.Project, s types.ServiceConfig) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, c := range s.Configs {
		path := filepath.Join(t.TempDir(), c.Source)
		require.NoError(t, os.WriteFile(path, []byte(p.Configs[c.Source].Content), 0o600))
		target := c.Target
		if target == "" {
			target = "/" + c.Source
		}
		files[target] = path
	}
	return files
}

// The program itself says whether it understands its command, flags and environment; variables that it does not know it would
// overlook, so each of them must make a difference to what it prints.
func TestComposeFileSpeaksTheProgramsLanguage(t *testing.T) {
	t.Parallel()
	binary, err := program()
	require.NoError(t, err)
	seen := 0
	p := project(t)
	for name, s := range p.Services {
		if s.Build == nil {
			continue
		}
		seen++
		mounted := configFiles(t, p, s)
		cmd := exec.CommandContext(t.Context(), binary, append(slices.Clone([]string(s.Command)), "--print-config")...)
		cmd.Env = []string{"HOME=" + t.TempDir()}
		for key, value := range s.Environment {
			if file, ok := mounted[*value]; ok {
				value = &file
			}
			cmd.Env = append(cmd.Env, key+"="+*value)
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		var settings map[string]any
		require.NoError(t, yaml.Unmarshal(out, &settings), string(out))
		for key := range maps.Keys(s.Environment) {
			flag := strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(key, "TRADEGRID_")), "_", "-")
			require.Contains(t, settings, flag, "%s sets %s, which its command does not know", name, key)
		}
	}
	require.GreaterOrEqual(t, seen, 6)
}

// Every file of the set-up is what its server reads.
func TestSetUpIsYAML(t *testing.T) {
	t.Parallel()
	files := 0
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "charts/compose"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var v map[string]any
		require.NoError(t, yaml.Unmarshal(raw, &v), path)
		return nil
	}))
	require.GreaterOrEqual(t, files, 3)
}
