package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/roles"
)

type rekeyCmd struct {
	roles.SecretKeysFlags
	Batch int `help:"Subscriptions to read at a time." default:"200"`
}

// Check checks the file of keys, too.
func (c *rekeyCmd) Check() error {
	if c.Batch < 1 {
		return fmt.Errorf("--batch %d: must be at least 1", c.Batch)
	}
	return c.CheckKeys()
}

func (c *rekeyCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	keys, err := c.ReadKeys(log)
	if err != nil {
		return err
	}
	cfg := all.DatabaseConfig()
	cfg.MaxConns, cfg.Log = 2, log
	d, err := db.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer d.Close()
	a := admin{all: roles.NewDomains(d, roles.DomainConfig{Policy: all.Policy, Keys: keys, Log: log}), out: out, asJSON: all.JSON}
	err = d.RunTx(ctx, "webhooks.rekey", func(_ context.Context, tx *db.Tx) error {
		return a.record(tx, "rekeyWebhookSecrets", c, tenant.ID{}, nil)
	})
	if err != nil {
		return err
	}
	done, err := a.all.Webhooks.Rekey(ctx, c.Batch, log)
	if err != nil {
		return fmt.Errorf("%w; %d subscriptions are done, repeat the command for the rest", err, done.Moved+done.Current)
	}
	moved, failed, err := a.all.Accounts.Rekey(ctx, c.Batch, log)
	if err != nil {
		return fmt.Errorf("%w; repeat the command for the rest", err)
	}
	log.InfoContext(ctx, "second factors and passkeys of the console are under the first key", "moved", moved, "failed", failed)
	faults := []error{a.write(done, "KEY SUBSCRIPTIONS MOVED CURRENT CHANGED FAILED",
		[]any{done.Key, done.Subscriptions, done.Moved, done.Current, done.Changed, done.Failed})}
	if done.Failed > 0 {
		faults = append(faults, fmt.Errorf("the secrets of %d subscriptions cannot be opened: put the keys that the log names back into %s and repeat", done.Failed, roles.FlagSecretKeys))
	}
	if failed > 0 {
		faults = append(faults, fmt.Errorf("%d second factors or passkeys cannot be opened: put the keys that the log names back into %s and repeat", failed, roles.FlagSecretKeys))
	}
	return errors.Join(faults...)
}
