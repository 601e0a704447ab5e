package dev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/services/dev/receiver"
)

// ReceiverCmd runs webhook receivers for tests.
type ReceiverCmd struct {
	Listen     string        `help:"Address to listen on; port 0 picks a free one." default:"127.0.0.1:8090"`
	Secret     string        `help:"Signing secret (whsec_…) of all receivers; without it signatures are not verified." secret:"true"`
	SecretFile string        `help:"File with the signing secret, instead of --secret." type:"path" placeholder:"FILE"`
	Tolerance  time.Duration `help:"Maximum age of a signed timestamp; 0 = unchecked." default:"0s"`
	Behaviour  string        `help:"How receivers answer initially: ok, status, hang, drip, close, redirect or huge, with settings, such as status,status=503,probability=0.1." default:"ok"`
}

const receiverStop = 5 * time.Second

// config converts the flags; the error names the invalid flag.
func (c *ReceiverCmd) config() (receiver.Config, error) {
	cfg := receiver.Config{Secret: c.Secret, Tolerance: c.Tolerance}
	var err error
	var errs []error
	if cfg.Behaviour, err = receiver.ParseBehaviour(c.Behaviour); err != nil {
		errs = append(errs, fmt.Errorf("--behaviour: %w", err))
	}
	switch {
	case c.Secret != "" && c.SecretFile != "":
		errs = append(errs, errors.New("--secret and --secret-file are mutually exclusive"))
	case c.SecretFile != "":
		if cfg.Secret, err = secret.File("--secret-file", c.SecretFile); err != nil {
			errs = append(errs, err)
		}
	}
	if err := cfg.Check(); err != nil {
		errs = append(errs, fmt.Errorf("--secret, --tolerance: %w", err))
	}
	return cfg, errors.Join(errs...)
}

// Check also reads the secret file.
func (c *ReceiverCmd) Check() error {
	_, err := c.config()
	return err
}

// Run serves until ctx is done, then waits for requests in flight.
func (c *ReceiverCmd) Run(ctx context.Context, log *slog.Logger) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	hooks := receiver.New(cfg)
	server := &http.Server{Handler: hooks, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	log.InfoContext(ctx, "receiver listening", "url", "http://"+listener.Addr().String()+"/hook", "signatures_checked", cfg.Secret != "")
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", c.Listen, err)
	case <-ctx.Done():
	}
	hooks.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), receiverStop)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return fmt.Errorf("stop receiver: %w", errors.Join(err, server.Close()))
	}
	return nil
}
