// Package brokers runs real Apache Kafka brokers for tests: a KRaft cluster on the loopback address, from the jars that
// Maven Central has, whose brokers can be killed and started again.
package brokers

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Config says what cluster is wanted.
type Config struct {
	Dir     string // for the data; must exist
	Nodes   int    // brokers, each of them a controller too; 3
	TLS     *TLS   // with it, clients need a user or a certificate, and rights
	Options map[string]string
}

// Cluster is a running cluster. Its methods may be called by one goroutine at a time.
type Cluster struct {
	cfg   Config
	nodes []*node
}

// Start formats the folders, starts the brokers and waits until all of them take part.
func Start(ctx context.Context, cfg Config) (c *Cluster, err error) {
	if cfg.Nodes == 0 {
		cfg.Nodes = 3
	}
	jars, err := Jars(ctx)
	if err != nil {
		return nil, err
	}
	c = &Cluster{cfg: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	taken := map[int]bool{}
	for i := range cfg.Nodes {
		n := &node{dir: filepath.Join(cfg.Dir, fmt.Sprintf("broker-%d", i+1)), jars: jars}
		for _, port := range []*int{&n.ports.controller, &n.ports.internal, &n.ports.client, &n.ports.mutual} {
			if *port, err = freePort(taken); err != nil {
				return c, err
			}
		}
		c.nodes = append(c.nodes, n)
	}
	if err := c.format(); err != nil {
		return c, err
	}
	for i := range c.nodes {
		if err := c.nodes[i].start(); err != nil {
			return c, err
		}
	}
	return c, c.Await(ctx, cfg.Nodes)
}

// format prepares the folders. Kafka's own tool does it for the first broker, the others differ in two ids:
// each call of the tool takes seconds.
func (c *Cluster) format() error {
	for i, n := range c.nodes {
		if err := os.MkdirAll(n.data(), 0o700); err != nil {
			return fmt.Errorf("make a broker's folder: %w", err)
		}
		if err := writeProperties(n.file(), c.properties(i)); err != nil {
			return fmt.Errorf("write a broker's settings: %w", err)
		}
	}
	first := c.nodes[0]
	out, err := java(first.jars, "kafka.tools.StorageTool", "format", "-t", newID(), "-c", first.file()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("format a broker's folder: %w\n%s", err, out)
	}
	for i, n := range c.nodes[1:] {
		for _, name := range []string{"bootstrap.checkpoint", "meta.properties"} {
			text, err := os.ReadFile(filepath.Join(first.data(), name))
			if err != nil {
				return fmt.Errorf("format a broker's folder: %w", err)
			}
			if name == "meta.properties" {
				text = otherNode(string(text), i+2)
			}
			if err := os.WriteFile(filepath.Join(n.data(), name), text, 0o600); err != nil {
				return fmt.Errorf("format a broker's folder: %w", err)
			}
		}
	}
	return nil
}

func otherNode(text string, id int) []byte {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch key, _, _ := strings.Cut(line, "="); key {
		case "node.id":
			lines[i] = fmt.Sprintf("node.id=%d", id)
		case "directory.id":
			lines[i] = "directory.id=" + newID()
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// newID is 16 random bytes as Kafka writes them; its own ids never begin with a dash.
func newID() string {
	for {
		var id [16]byte
		_, _ = rand.Read(id[:]) // it never fails
		if text := base64.RawURLEncoding.EncodeToString(id[:]); text[0] != '-' {
			return text
		}
	}
}

// Await waits until n brokers take part.
func (c *Cluster) Await(ctx context.Context, n int) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Internal()...))
	if err != nil {
		return fmt.Errorf("wait for brokers: %w", err)
	}
	defer cl.Close()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		found, err := taking(ctx, cl)
		if err == nil && found == n {
			return nil
		}
		if dead := c.dead(); len(c.nodes)-len(dead) < n {
			return fmt.Errorf("broker ended by itself:\n%s", dead[0].tail())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d brokers take part: %w; %s", found, n, errors.Join(ctx.Err(), err), c.Log())
		case <-tick.C:
		}
	}
}

// taking counts the brokers that take part. Metadata would do as well, but clients keep it for a while.
func taking(ctx context.Context, cl *kgo.Client) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	resp, err := kmsg.NewPtrDescribeClusterRequest().RequestWith(ctx, cl)
	if err != nil {
		return 0, err
	}
	return len(resp.Brokers), kerr.ErrorForCode(resp.ErrorCode)
}

func (c *Cluster) dead() (dead []*node) {
	for _, n := range c.nodes {
		select {
		case <-n.ended:
			dead = append(dead, n)
		default:
		}
	}
	return dead
}

// Brokers are the addresses for clients.
func (c *Cluster) Brokers() []string {
	return c.addresses(func(p ports) int { return p.client })
}

// Mutual are the addresses for clients that prove themselves by a certificate.
func (c *Cluster) Mutual() []string { return c.addresses(func(p ports) int { return p.mutual }) }

// Internal are the addresses for administrators, who need neither a name nor rights there.
func (c *Cluster) Internal() []string { return c.addresses(func(p ports) int { return p.internal }) }

func (c *Cluster) addresses(of func(ports) int) []string {
	all := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		all[i] = address(of(n.ports))
	}
	return all
}

// Kill ends brokers, which count from 0, without a warning.
func (c *Cluster) Kill(nodes ...int) error {
	var errs []error
	for _, i := range nodes {
		errs = append(errs, c.nodes[i].kill())
	}
	return errors.Join(errs...)
}

// Restart starts brokers that were killed, with the data that they had. [Cluster.Await] tells when they are back.
func (c *Cluster) Restart(nodes ...int) error {
	for _, i := range nodes {
		if err := c.nodes[i].start(); err != nil {
			return err
		}
	}
	return nil
}

// Log is the end of what each broker said.
func (c *Cluster) Log() string {
	var b strings.Builder
	for i, n := range c.nodes {
		fmt.Fprintf(&b, "broker %d said:\n%s\n", i+1, n.tail())
	}
	return b.String()
}

// Stop ends all brokers; their data is no longer needed.
func (c *Cluster) Stop() error {
	errs := make([]error, len(c.nodes))
	var wg sync.WaitGroup
	for i, n := range c.nodes {
		wg.Go(func() { errs[i] = n.kill() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
