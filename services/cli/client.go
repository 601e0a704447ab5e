// Package cli has the commands that call the API of a company as any client does.
package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/roles"
)

// ClientFlags say whom a command of an integration developer talks to. What they leave open is in the profile, which
// `tradegrid login` writes.
type ClientFlags struct {
	URL     string `name:"url" help:"Scheme and host of the API, such as https://api.example.com; by default that of the profile." placeholder:"URL"`
	Token   string `help:"API token; by default that of the profile." secret:"true"`
	Profile string `help:"File with the URL and the token; by default profile.json in the folder tradegrid of the user's settings." type:"path" placeholder:"FILE"`
}

// Profile is the content of the file.
type Profile struct {
	URL    string `json:"url"`
	Token  string `json:"token"`
	Secret string `json:"secret"` // with which `tradegrid listen` signs
}

// path is where the profile is.
func (f ClientFlags) path() (string, error) {
	if f.Profile != "" {
		return f.Profile, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("--profile: must be given: %w", err)
	}
	return filepath.Join(dir, "tradegrid", "profile.json"), nil
}

// read reads the profile; without one it is empty.
func (f ClientFlags) read() (p Profile, err error) {
	path, err := f.path()
	if err != nil {
		return p, err
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return p, fmt.Errorf("--profile %s: %w; write it anew with `tradegrid login`", path, err)
	}
	return p, nil
}

// write keeps a profile for its owner's eyes only.
func (f ClientFlags) write(p Profile) (path string, err error) {
	if path, err = f.path(); err != nil {
		return "", err
	}
	raw, err := json.MarshalIndent(p, "", "  ") //nolint:gosec // keeping the token and the secret is what the file is for
	if err != nil {
		return "", fmt.Errorf("encode profile: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("--profile: %w", err)
	}
	// A file that others may read keeps its rights when it is written over.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("--profile: %w", err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o600); err != nil {
		return "", fmt.Errorf("--profile: %w", err)
	}
	return path, nil
}

// apiClient calls the API of one installation with one token.
type apiClient struct {
	base  string
	token string
	http  *http.Client
}

// client makes the client of the flags and the profile.
func (f ClientFlags) client() (*apiClient, error) {
	p, err := f.read()
	if err != nil {
		return nil, err
	}
	at, token := cmp.Or(f.URL, p.URL), cmp.Or(f.Token, p.Token)
	if at == "" || token == "" {
		return nil, errors.New("--url and --token: must be given, or run `tradegrid login` once")
	}
	u, err := url.Parse(at)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		return nil, fmt.Errorf("--url %q: must be a scheme and a host, such as https://api.example.com", at)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(at, "/"), httpapi.BasePath)
	return &apiClient{base: base + httpapi.BasePath, token: token, http: &http.Client{Timeout: time.Minute}}, nil
}

// apiError is an answer other than 2xx.
type apiError struct {
	Status    int
	Code      string `json:"code"`
	Message   any    `json:"message"`
	RequestID string `json:"requestId"`
}

// Error says what the API said.
func (e *apiError) Error() string {
	text := fmt.Sprint(e.Message)
	if many, ok := e.Message.([]any); ok {
		texts := make([]string, len(many))
		for i, one := range many {
			texts[i] = fmt.Sprint(one)
		}
		text = strings.Join(texts, "; ")
	}
	return fmt.Sprintf("the API answered %d %s: %s (request %s)", e.Status, e.Code, text, e.RequestID)
}

// call sends a request without a body and reads the answer into out, which may be nil.
func (c *apiClient) call(ctx context.Context, method, path string, query url.Values, out any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return c.send(ctx, method, path, nil, out)
}

// send sends a request with a body, which may be empty, and reads the answer into out, which may be nil.
func (c *apiClient) send(ctx context.Context, method, path string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("--url: %w", err)
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("User-Agent", "tradegrid/"+roles.Release)
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("call the API: %w", err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return fmt.Errorf("read the answer of the API: %w", err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		e := &apiError{Status: res.StatusCode, Message: http.StatusText(res.StatusCode)}
		_ = json.Unmarshal(raw, e) // a proxy may answer something else
		return e
	}
	if out == nil || len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("read the answer of the API: %w", err)
	}
	return nil
}

// ended reports whether repeating a call cannot help.
func ended(err error) bool {
	e, ok := errors.AsType[*apiError](err)
	return ok && e.Status < http.StatusInternalServerError && e.Status != http.StatusTooManyRequests && e.Status != http.StatusRequestTimeout
}

// printJSON writes v indented.
func printJSON(out io.Writer, v json.RawMessage) error {
	var text bytes.Buffer
	if err := json.Indent(&text, v, "", "  "); err != nil {
		return fmt.Errorf("read the answer of the API: %w", err)
	}
	text.WriteByte('\n')
	_, err := text.WriteTo(out)
	return err
}

// LoginCmd writes the profile.
type LoginCmd struct {
	ClientFlags
}

// Run checks the token and keeps it.
func (c *LoginCmd) Run(ctx context.Context, out io.Writer) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var me struct {
		Name, CompanyName string
		IsTest            bool
		Scopes            []string
		ExpiresAt         *string
	}
	if err := api.call(ctx, http.MethodGet, "/token", nil, &me); err != nil {
		return err
	}
	before, err := c.read()
	if err != nil {
		before = Profile{}
	}
	path, err := c.write(Profile{URL: strings.TrimSuffix(api.base, httpapi.BasePath), Token: api.token, Secret: cmp.Or(before.Secret, webhook.NewSecret())})
	if err != nil {
		return err
	}
	kind := "company"
	if me.IsTest {
		kind = "test company"
	}
	fmt.Fprintf(out, "%s %s, token %s, scopes %s\n", kind, me.CompanyName, me.Name, strings.Join(me.Scopes, " "))
	if me.ExpiresAt != nil {
		fmt.Fprintf(out, "the token expires at %s\n", *me.ExpiresAt)
	}
	fmt.Fprintf(out, "kept in %s, which only you can read\n", path)
	return nil
}
