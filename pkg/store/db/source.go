package db

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
)

// Validate reports every invalid setting by the name of its flag.
func (c Config) Validate() error {
	var errs []error
	switch {
	case c.URL == "" && c.URLFile == "":
		errs = append(errs, errors.New("--database-url or --database-url-file is required: set postgres://user:password@host:port/name"))
	case c.URL != "" && c.URLFile != "":
		errs = append(errs, errors.New("--database-url and --database-url-file are mutually exclusive: set one of them"))
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

// Flag is the name of the flag that holds the address of the database.
func (c Config) Flag() string {
	if c.URLFile != "" {
		return "--database-url-file"
	}
	return "--database-url"
}

// url is the current address of the database.
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

// connection parses the URL and reads the certificates that it names. Errors contain no password.
func (c Config) connection() (*pgx.ConnConfig, error) {
	url, err := c.url()
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, fmt.Errorf("%s: is not a database URL: use postgres://user:password@host:port/name?sslmode=verify-full", c.Flag())
	}
	conn, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Flag(), withoutURL(err))
	}
	return conn, nil
}

// withoutURL removes the URL from a parse error: in a malformed URL the password may not be recognised and masked.
func withoutURL(err error) error {
	var parse *pgconn.ParseConfigError
	if !errors.As(err, &parse) {
		return errors.New("cannot be parsed: use postgres://user:password@host:port/name?sslmode=verify-full")
	}
	parse.ConnString = "the address"
	return parse
}

// renew reads URL, password and certificates again for each new connection, so a rotated secret needs no restart.
// Existing connections continue.
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
