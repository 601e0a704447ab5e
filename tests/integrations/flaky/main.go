// Command flaky stands between the example integrations and the API, and does what networks and busy servers do: of each ten requests
// one is answered 429 with Retry-After, and the responses to two, which were carried out, are lost. It prints its address, and at the
// end how many requests came.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"sync/atomic"
	"time"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	target, err := url.Parse(os.Args[1])
	if err != nil {
		return fmt.Errorf("parse the address of the API: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	handler := &flaky{api: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: target.Scheme, Host: target.Host})}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	fmt.Printf("http://%s%s\n", listener.Addr(), target.Path)
	_ = server.Serve(listener) // until it is closed
	fmt.Printf("%d requests, %d of them refused, %d responses lost\n", handler.requests.Load(), handler.refused.Load(), handler.lost.Load())
	return nil
}

type flaky struct {
	api                     http.Handler
	requests, refused, lost atomic.Int64
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch f.requests.Add(1) % 10 {
	case 3:
		f.refused.Add(1)
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		fmt.Fprint(w, `{"statusCode": 429, "code": "RATE_LIMIT_EXCEEDED", "message": "too many requests", "error": "Too Many Requests", "meta": {"retryAfter": 1}}`)
	case 5, 8:
		f.lost.Add(1)
		f.api.ServeHTTP(nowhere{}, r)
		panic(http.ErrAbortHandler) // closes the connection
	default:
		f.api.ServeHTTP(w, r)
	}
}

// nowhere is where a response goes that is lost.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}
