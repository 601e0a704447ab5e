package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/secret"
)

// Validate reports every setting that cannot work, by the name of its flag.
func (c Config) Validate() error {
	var errs []error
	switch {
	case c.URL == "" && c.URLFile == "":
		errs = append(errs, errors.New("--database-url is required, or --database-url-file: give postgres://user:password@host:port/name"))
	case c.URL != "" && c.URLFile != "":
		errs = append(errs, errors.New("--database-url and --database-url-file exclude each other: give one of them"))
	default:
		_, err := c.connection()
		errs = append(errs, err)
	}
	if c.PasswordFile != "" {
		_, err := c.password()
		errs = append(errs, err)
	}
	if c.MaxConns < 0 {
		errs = append(errs, fmt.Errorf("--database-conns %d must be at least 1", c.MaxConns))
	}
	return errors.Join(errs...)
}

// Flag names the flag that says where the database is.
func (c Config) Flag() string {
	if c.URLFile != "" {
		return "--database-url-file"
	}
	return "--database-url"
}

// url is the address of the database as it is now.
func (c Config) url() (string, error) {
	if c.URLFile == "" {
		return c.URL, nil
	}
	text, err := secret.File("--database-url-file", c.URLFile)
	return strings.TrimSpace(text), err
}

func (c Config) password() (string, error) {
	return secret.File("--database-password-file", c.PasswordFile)
}

// connection is what the URL says, with the certificates that it names. Errors show no password.
func (c Config) connection() (*pgx.ConnConfig, error) {
	url, err := c.url()
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, fmt.Errorf("%s: is no address of a database: use postgres://user:password@host:port/name?sslmode=verify-full", c.Flag())
	}
	conn, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Flag(), withoutURL(err))
	}
	return conn, nil
}

// withoutURL keeps the reason of a failure and drops the address: a malformed one can show its password.
func withoutURL(err error) error {
	var parse *pgconn.ParseConfigError
	if !errors.As(err, &parse) {
		return errors.New("cannot be parsed: use postgres://user:password@host:port/name?sslmode=verify-full")
	}
	parse.ConnString = "the address"
	return parse
}

// renew puts into a new connection what files say now: URL, password, certificates. So a changed secret needs no
// restart, and connections that exist live on.
func (c Config) renew(_ context.Context, conn *pgx.ConnConfig) error {
	now, err := c.connection()
	if err != nil {
		return err
	}
	conn.Host, conn.Port, conn.Database, conn.User, conn.Password = now.Host, now.Port, now.Database, now.User, now.Password
	conn.TLSConfig, conn.Fallbacks = now.TLSConfig, now.Fallbacks
	if c.PasswordFile != "" {
		if conn.Password, err = c.password(); err != nil {
			return err
		}
	}
	return nil
}
