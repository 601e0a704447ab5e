package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"reflect"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/operations"
)

// audited makes one change of a company by a subcommand in a transaction of its own, and records it there.
func audited[T any](
	ctx context.Context, a admin, operation string, command any, id tenant.ID, run func(context.Context, *db.Tx, access.Caller) (T, error),
) (v T, err error) {
	err = a.all.DB.RunTx(ctx, operation, func(ctx context.Context, tx *db.Tx) (err error) {
		if v, err = run(ctx, tx, access.System(id)); err != nil {
			return err
		}
		return a.record(tx, operation, command, id, v)
	})
	return v, err
}

// auditedWith is [audited] with an input.
func auditedWith[F, T any](
	ctx context.Context, a admin, operation string, command any, id tenant.ID, run func(context.Context, *db.Tx, access.Caller, F) (T, error), in F,
) (T, error) {
	return audited(ctx, a, operation, command, id, func(ctx context.Context, tx *db.Tx, by access.Caller) (T, error) { return run(ctx, tx, by, in) })
}

// recorded makes the changes of a subcommand, each in a transaction of its own, and records them there.
func (a admin) recorded(command any) operations.Recorded {
	return func(ctx context.Context, operation string, company tenant.ID, change func(ctx context.Context, tx *db.Tx) (any, error), opts ...db.Option) error {
		return a.all.DB.RunTx(ctx, operation, func(ctx context.Context, tx *db.Tx) error {
			v, err := change(ctx, tx)
			if err != nil {
				return err
			}
			return a.record(tx, operation, command, company, v)
		}, opts...)
	}
}

// record adds a change to the record of changes, as the admin API does; command is the subcommand with its flags.
func (a admin) record(tx *db.Tx, operation string, command any, id tenant.ID, changed any) error {
	change := httpapi.AdminChange{At: tx.Now(), Operator: CLIOperator(), Operation: operation, Company: id, RequestID: "cli"}
	if !id.IsZero() {
		change.Entity = id.String()
	}
	if v, ok := changed.(httpapi.Identified); ok {
		change.Entity = v.RecordID()
	}
	var err error
	if change.Body, err = json.Marshal(flagsOf(reflect.ValueOf(command).Elem())); err != nil {
		return fmt.Errorf("record change: %w", err)
	}
	return a.all.Console.Record(tx, change)
}

// flagsOf lists the flags of a subcommand that are not empty, by their names. Subcommands have no secret ones.
func flagsOf(command reflect.Value) map[string]any {
	flags := map[string]any{}
	for field, v := range command.Fields() {
		switch {
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			for name, value := range flagsOf(v) {
				flags[name] = value
			}
		case !v.IsZero() && field.IsExported():
			flags[cmp.Or(field.Tag.Get("name"), flagName(field.Name))] = v.Interface()
		}
	}
	return flags
}

// flagName is the name of the flag of a field, as the parser makes it.
func flagName(field string) string {
	if strings.ToUpper(field) == field {
		return strings.ToLower(field)
	}
	return strings.TrimPrefix(flagOf(strings.ToLower(field[:1])+field[1:]), "--")
}

// CLIOperator names the user of the machine who runs the command, whoever that became by sudo.
func CLIOperator() string {
	name := os.Getenv("SUDO_USER") //nolint:forbidigo // a fact about the caller, not a setting
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	return "cli:" + cmp.Or(name, fmt.Sprintf("uid %d", os.Getuid()))
}
