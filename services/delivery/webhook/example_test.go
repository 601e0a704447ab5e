package webhook_test

import (
	"fmt"
	"net/http"
	"time"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// What the dispatcher sends is signed, and what a receiver gets it verifies before it reads it.
func Example() {
	secret := webhook.NewSecret()
	body := []byte(`{"event":"order.created","data":{"status":"new","total":4998}}`)
	now := time.Now()

	signer, err := webhook.NewSigner(secret, "") // during a rotation, with the secret before
	if err != nil {
		fmt.Println(err)
		return
	}
	h := http.Header{}
	signer.Sign(h, webhook.Attempt{Event: "order.created", DeliveryID: "d-1", WebhookID: "w-1", EventID: "e-1", Number: 1, At: now}, body)

	fmt.Println("as sent:", webhook.Verify(secret, h, body, now, 5*time.Minute))
	fmt.Println("changed on the way:", webhook.Verify(secret, h, append(body, ' '), now, 5*time.Minute) != nil)
	// Output:
	// as sent: <nil>
	// changed on the way: true
}

// A subscription gets the events whose names match and that its filter lets pass.
func ExampleCompileFilter() {
	filter, faults := webhook.CompileFilter([]byte(`{"data.status":["new","paid"]}`))
	fmt.Println(faults)
	fmt.Println(filter.Match(webhook.NewDoc([]byte(`{"event":"order.created","data":{"status":"new"}}`))))
	fmt.Println(filter.Match(webhook.NewDoc([]byte(`{"event":"order.created","data":{"status":"cancelled"}}`))))
	// Output:
	// []
	// true
	// false
}
