package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// Roles of operators.
const (
	RoleRead  = "read"  // may read
	RoleWrite = "write" // may make changes, too
)

// Operator is someone who may use the admin API.
type Operator struct {
	Name string
	Role string // RoleRead or RoleWrite
	hash [sha256.Size]byte
}

// Writes reports whether the operator may make changes.
func (o Operator) Writes() bool { return o.Role == RoleWrite }

// Operators are the operators that a file names, with hashes of their tokens. They follow the file, so that a token is
// replaced by adding a line, and ended by removing one. They are safe for concurrent use.
type Operators struct{ in *followed[[]Operator] }

// ReadOperators reads a file with one token per line, as name:role:hash, the hash being the SHA-256 of the token in
// hexadecimal. A name may have several lines, one for each of its tokens. Blank lines and those that begin with # say
// nothing. Errors name the flag and the line.
func ReadOperators(flag, path string, log *slog.Logger) (*Operators, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	in, err := follow[[]Operator]{
		flag: flag, path: path, parse: parseOperators,
		changed: func(list []Operator) { log.Info("operators changed", "tokens", len(list)) },
		failed:  func(err error) { log.Error("operators not read; those read before stay in use", "error", err) },
	}.start()
	if err != nil {
		return nil, err
	}
	return &Operators{in: in}, nil
}

// ParseOperators makes fixed operators of what a file could hold.
func ParseOperators(text string) (*Operators, error) {
	list, err := parseOperators([]byte(text))
	if err != nil {
		return nil, err
	}
	return &Operators{in: fixed(list)}, nil
}

// NewOperatorToken makes a token of an operator.
func NewOperatorToken() string { return "svc_admin_" + rand.Text() }

// OperatorLine makes a line of a file of operators.
func OperatorLine(name, role, token string) string {
	hash := sha256.Sum256([]byte(token))
	return name + ":" + role + ":" + hex.EncodeToString(hash[:])
}

// Find returns the operator that a token belongs to. It takes as long for any token.
func (o *Operators) Find(token string) (found Operator, ok bool) {
	if token == "" {
		return found, false
	}
	hash := sha256.Sum256([]byte(token))
	for _, op := range o.in.current() {
		if subtle.ConstantTimeCompare(hash[:], op.hash[:]) == 1 {
			found, ok = op, true
		}
	}
	return found, ok
}

// Fingerprint names the token of an operator without being able to stand for it: a hash of what the file holds.
func (o Operator) Fingerprint() string {
	sum := sha256.Sum256(append([]byte("operator "), o.hash[:]...))
	return hex.EncodeToString(sum[:])
}

// Fingerprinted returns the operator with the fingerprint, while the token is in the file.
func (o *Operators) Fingerprinted(fingerprint string) (found Operator, ok bool) {
	for _, op := range o.in.current() {
		if subtle.ConstantTimeCompare([]byte(fingerprint), []byte(op.Fingerprint())) == 1 {
			found, ok = op, true
		}
	}
	return found, ok
}

func parseOperators(text []byte) ([]Operator, error) {
	var list []Operator
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		op, err := parseOperator(line)
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", n, err)
		case slices.ContainsFunc(list, func(other Operator) bool { return other.hash == op.hash }):
			return nil, fmt.Errorf("line %d: the hash is there twice", n)
		}
		list = append(list, op)
	}
	if len(list) == 0 {
		return nil, errors.New("has no operator; add a line name:role:hash, the hash being the SHA-256 of a random token (openssl rand -hex 32)")
	}
	return list, nil
}

func parseOperator(line string) (op Operator, err error) {
	parts := strings.Split(line, ":")
	if len(parts) != 3 || !keyID.MatchString(parts[0]) || (parts[1] != RoleRead && parts[1] != RoleWrite) {
		return op, fmt.Errorf("must be name:role:hash, the name of letters, digits, dots, dashes and underscores, the role %s or %s", RoleRead, RoleWrite)
	}
	hash, err := hex.DecodeString(parts[2])
	if err != nil || len(hash) != sha256.Size {
		return op, errors.New("the hash must be the SHA-256 of the token, 64 hexadecimal digits (printf %s \"$token\" | sha256sum)")
	}
	op.Name, op.Role = parts[0], parts[1]
	copy(op.hash[:], hash)
	return op, nil
}
