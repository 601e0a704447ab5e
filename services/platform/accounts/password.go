package accounts

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

const (
	minPassword = 12   // characters
	maxPassword = 1024 // bytes

	// maxHashing is how many passwords are hashed at a time, each of which takes 19 MiB, and at most half of the processors. Others wait
	// within their turn.
	maxHashing = 4
)

// hashParams are the ones that OWASP recommends for argon2id: about 30 ms of one core.
var hashParams = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// unknownHash is compared with when there is no account, so that this takes as long as a wrong password. Nobody knows its password.
const unknownHash = "$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$Kx5pPzR0oT2nq1cVw3m9yQ6s8u4h7j0lBdFgHiJkLmA"

// Password is a hash that [Service.SetPassword] stores.
type Password struct{ hash string }

// checkPassword says what a new password lacks.
func checkPassword(field, password, email string) error {
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return apierr.InvalidField(field, apierr.Length, "at least %d characters", minPassword)
	case len(password) > maxPassword || !utf8.ValidString(password):
		return apierr.InvalidField(field, apierr.Length, "valid text of at most %d bytes", maxPassword)
	case email != "" && strings.EqualFold(password, email):
		return apierr.InvalidField(field, apierr.Conflict, "must not be the e-mail address")
	case strings.Count(password, password[:1]) == len(password):
		return apierr.InvalidField(field, apierr.Format, "must not be one character again and again")
	}
	return nil
}

// hash hashes a new password. It is done before a transaction begins, because it takes long.
func (s *Service) hash(ctx context.Context, password string) (p Password, err error) {
	if err := s.startHash(ctx); err != nil {
		return p, err
	}
	defer s.endHash()
	if p.hash, err = argon2id.CreateHash(password, hashParams); err != nil {
		return p, fmt.Errorf("hash password: %w", err)
	}
	return p, nil
}

// matches compares a password with a hash; nil stands for an account without one, or for none at all, and takes as long.
func (s *Service) matches(ctx context.Context, password string, hash *string) (bool, error) {
	if len(password) > maxPassword {
		password = ""
	}
	if err := s.startHash(ctx); err != nil {
		return false, err
	}
	defer s.endHash()
	against := unknownHash
	if hash != nil {
		against = *hash
	}
	ok, err := argon2id.ComparePasswordAndHash(password, against)
	if err != nil {
		return false, fmt.Errorf("compare password: %w", err)
	}
	return ok && hash != nil, nil
}

func (s *Service) startHash(ctx context.Context) error {
	select {
	case s.hashing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Service) endHash() { <-s.hashing }
