package console

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// answerWith makes each request of the script end with a status, 0 = the connection is lost; -1 lets them through again.
func (b *browser) answerWith(status int) {
	b.t.Helper()
	b.exec(fmt.Sprintf(`(() => {
  const proto = XMLHttpRequest.prototype, status = %d;
  window.realSend ??= proto.send;
  proto.send = status < 0 ? window.realSend : function () {
    if (!status) return setTimeout(() => this.onerror(new ProgressEvent("error")));
    Object.defineProperties(this, { status: { value: status }, responseText: { value: "" } });
    setTimeout(() => this.onload(new ProgressEvent("load")));
  };
})()`, status))
}

// failAndTryAgain looks for a client while the console answers with failures: each is said, the form keeps what was typed, and trying again from there
// finds the client.
func failAndTryAgain(t *testing.T, b *browser, company string) {
	t.Helper()
	b.run(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(company+"/orders/new"))
	b.exec(`document.querySelector("textarea").value = "ring twice"`)
	for _, status := range []int{429, 403, 500, 502, 0} {
		b.answerWith(status)
		b.exec(fmt.Sprintf(`(document.querySelector(".toast.failed")?.remove(), document.getElementById("c").value = "Anna %d", document.getElementById("c").dispatchEvent(new Event("input", { bubbles: true })))`, status))
		b.until(`!!document.querySelector(".toast.failed")`)
	}
	require.Contains(t, b.text(".toast.failed"), "cannot be reached")
	b.lookHere("failed")
	b.answerWith(-1)
	b.run(chromedp.EmulateViewport(1280, 900), chromedp.Click(chromedp.CSS(".toast.failed button")))
	b.settled(`!document.querySelector(".toast.failed") && document.getElementById("c-found").dataset.for === "Anna 0"`)
	require.Equal(t, "ring twice", get(b, chromedp.Evaluate[string](`document.querySelector("textarea").value`)))
}
