package brokers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// minJava is what the brokers of Kafka 4 need.
const minJava = 17

// ErrNeeds says what is missing on this machine.
var ErrNeeds = errors.New("real Kafka brokers need Java 17 or newer and Maven on PATH: install them, for example the packages openjdk-17-jre-headless and maven")

var javaVersion = regexp.MustCompile(`version "(\d+)`)

// Needs reports what keeps this machine from running brokers, as [ErrNeeds].
func Needs(ctx context.Context) error {
	if _, err := exec.LookPath("mvn"); err != nil {
		return fmt.Errorf("%w (%w)", ErrNeeds, err)
	}
	out, err := exec.CommandContext(ctx, "java", "-version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w (java -version: %w)", ErrNeeds, err)
	}
	found := javaVersion.FindSubmatch(out)
	if found == nil {
		return fmt.Errorf("%w (java -version says %.100q)", ErrNeeds, out)
	}
	if n, err := strconv.Atoi(string(found[1])); err != nil || n < minJava {
		return fmt.Errorf("%w (java is version %s)", ErrNeeds, found[1])
	}
	return nil
}

// Jars gives the folder with the jars that pom.xml in tests/kafka names. The first call fetches them by Maven into
// bin/kafka; a changed pom.xml makes a folder of its own.
func Jars(ctx context.Context) (dir string, err error) {
	if err := Needs(ctx); err != nil {
		return "", err
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	pom := filepath.Join(root, "tests/kafka/pom.xml")
	text, err := os.ReadFile(pom)
	if err != nil {
		return "", fmt.Errorf("read the list of jars: %w", err)
	}
	home := filepath.Join(root, "bin/kafka")
	sum := sha256.Sum256(text)
	dir = filepath.Join(home, hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(home, 0o755); err != nil { //nolint:gosec // an ordinary user may run what root has fetched
		return "", fmt.Errorf("make a folder for the jars: %w", err)
	}
	unlock, err := dbtest.LockFile(filepath.Join(home, ".lock")) // several test processes may want them at once
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(dir); err == nil { // another one was faster
		return dir, nil
	}
	return dir, fetch(ctx, pom, dir)
}

// fetch puts the jars into dir, which appears when it is complete.
func fetch(ctx context.Context, pom, dir string) error {
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return fmt.Errorf("remove an unfinished download: %w", err)
	}
	cmd := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+part) //nolint:gosec // a fixed command
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("fetch the jars of Kafka from Maven Central: %w\n%s", err, bytes.TrimSpace(out))
	}
	if err := os.Rename(part, dir); err != nil {
		return fmt.Errorf("keep the jars: %w", err)
	}
	return nil
}

// moduleRoot is the folder of go.mod above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "tests/kafka/pom.xml")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find the module: start within its folders")
		}
		dir = parent
	}
}
