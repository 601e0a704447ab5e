package accounts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Limits of what a provider answers.
const (
	maxProvider       = 256 << 10 // bytes of an answer, without compression
	maxProviderHeader = 64 << 10  // bytes of its headers
	maxKeyText        = 1366      // characters of the modulus of an RSA key in base64: 8 192 bits
)

// newProviderClient returns a client for requests to a provider, whose answers are bounded.
func newProviderClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:errcheck,forcetypeassert // nobody replaces it
	transport.MaxResponseHeaderBytes = maxProviderHeader
	return &http.Client{Timeout: providerWithin, Transport: bounded{transport}}
}

// bounded refuses answers that cost too much: long ones, and keys whose use would take seconds.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxProvider+1))
	if err == nil && len(body) > maxProvider {
		err = fmt.Errorf("the answer has more than %d bytes", maxProvider)
	}
	if err == nil {
		err = checkKeys(body)
	}
	if err != nil {
		return nil, err
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return res, nil
}

var errLargeKey = errors.New("the answer has an RSA key of more than 8192 bits")

// checkKeys checks the keys of a key set. Other answers have none.
func checkKeys(body []byte) error {
	var set struct {
		Keys []struct {
			Modulus string `json:"n"`
		} `json:"keys"`
	}
	if json.Unmarshal(body, &set) != nil {
		return nil //nolint:nilerr // whoever reads the answer says what is wrong
	}
	for _, k := range set.Keys {
		if len(k.Modulus) > maxKeyText {
			return errLargeKey
		}
	}
	return nil
}
