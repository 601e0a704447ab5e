// Package console walks the console with a real browser: signs in, sets up a second factor, looks at each page in light and dark,
// wide and narrow, and lets axe-core look for what keeps people out. `make console-check` runs it; it needs Chromium and npm.
package console

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"
)

// dev is what dev.json says.
type dev struct {
	BaseURL, CompanyID, Token, ReceiverURL, ConsoleURL, ConsoleSignIn, MailDir, AdminURL, AdminToken string
}

func needed(t *testing.T, name, why string) string {
	t.Helper()
	v := os.Getenv(name)
	require.NotEmpty(t, v, "%s is not set: %s; run make console-check", name, why)
	return v
}

// start runs `tradegrid dev` until the test ends.
func start(t *testing.T) (d dev) {
	t.Helper()
	state := t.TempDir()
	cmd := exec.Command(needed(t, "TRADEGRID_BINARY", "the binary to test"), "dev", "--state="+state, "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0",
		"--console-listen=127.0.0.1:0", "--receiver-listen=127.0.0.1:0", "--ops-listen=127.0.0.1:0")
	out, err := os.Create(filepath.Join(needed(t, "SHOTS", "the folder for screenshots"), t.Name()+".log"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		_ = out.Close()
	})
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile(filepath.Join(state, "dev.json"))
		return err == nil && json.Unmarshal(raw, &d) == nil && d.ConsoleSignIn != ""
	}, 2*time.Minute, 200*time.Millisecond, "tradegrid dev did not start; see its log")
	return d
}

// browser is a window of Chromium.
type browser struct {
	t      *testing.T
	ctx    context.Context
	axe    string
	shots  string
	mu     sync.Mutex
	faults []string // of the console of the browser, such as what the policy refused
}

func open(t *testing.T) *browser {
	t.Helper()
	axe, err := os.ReadFile(needed(t, "AXE", "the file axe.min.js"))
	require.NoError(t, err)
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(needed(t, "CHROMIUM", "the path of Chromium")),
		chromedp.NoSandbox, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx, axe: string(axe), shots: needed(t, "SHOTS", "the folder for screenshots")}
	require.NoError(t, os.MkdirAll(b.shots, 0o755))
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	return b
}

// listen keeps what the console of the browser says is wrong.
func (b *browser) listen(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, ev.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		if ev.Entry.Level == log.EntryLevelError && strings.Contains(ev.Entry.Text, "the server responded with a status of") {
			b.t.Logf("%s: %s", ev.Entry.URL, ev.Entry.Text)
		} else if ev.Entry.Level == log.EntryLevelError {
			b.faults = append(b.faults, ev.Entry.Text)
		}
	}
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	b.must(chromedp.Do(ctx, actions...))
}

// must stops the test at an error, and shows where the browser is.
func (b *browser) must(err error) {
	b.t.Helper()
	if err == nil {
		return
	}
	at, _ := chromedp.Run(b.ctx, chromedp.Location())
	text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
	require.NoError(b.t, err, "at %s, which shows:\n%s", at, text)
}

// get runs an action that has a result.
func get[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, action)
	b.must(err)
	return v
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	return get(b, chromedp.Text(chromedp.CSS(selector)))
}

func (b *browser) location() string {
	b.t.Helper()
	return get(b, chromedp.Location())
}

// until waits until an expression is true of the page.
func (b *browser) until(expression string) {
	b.t.Helper()
	get(b, chromedp.Poll[bool](expression))
}

// settled waits until an expression is true and what was swapped on the page is in its place.
func (b *browser) settled(expression string) {
	b.t.Helper()
	b.until(`(` + expression + `) && !document.querySelector(".htmx-added, .htmx-settling, .htmx-swapping, .htmx-request, .dragged")`)
}

// submit fills a form and sends it, and waits for the next page.
func (b *browser) submit(button string, fields ...string) {
	b.t.Helper()
	for i := 0; i+1 < len(fields); i += 2 {
		b.run(chromedp.SetValue(chromedp.CSS(fields[i]), fields[i+1]))
	}
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	_, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(button)))
	b.must(err)
}

// violation is what axe-core reports.
type violation struct {
	ID, Help string
	Nodes    []struct{ HTML string }
}

// layoutShift adds up how far parts of the page have moved since it was opened, as Chromium counts it.
const layoutShift = `new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => list.getEntries().forEach(e => { sum += e.value })).observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => setTimeout(() => done(sum), 50));
})`

// look opens a page narrow and wide, and looks at it.
func (b *browser) look(name, address string) {
	b.t.Helper()
	for _, form := range forms {
		b.scheme("light")
		b.run(chromedp.EmulateViewport(form.width, form.height), chromedp.Navigate(address))
		moved := get(b, chromedp.Evaluate[float64](layoutShift, chromedp.EvalAwaitPromise))
		if moved > 0.01 { // on a busy machine, the size of the window may have come after the page
			b.run(chromedp.Navigate(address))
			moved = min(moved, get(b, chromedp.Evaluate[float64](layoutShift, chromedp.EvalAwaitPromise)))
		}
		if moved > 0.01 {
			b.t.Errorf("%s-%d moves while it loads: layout shift %.3f", name, form.width, moved)
		}
		get(b, chromedp.Evaluate[bool](b.axe+`;true`))
		b.inspect(name, form.width)
	}
}

// lookHere looks at the page as it is now, narrow and wide.
func (b *browser) lookHere(name string) {
	b.t.Helper()
	get(b, chromedp.Evaluate[bool](b.axe+`;true`))
	for _, form := range forms {
		b.run(chromedp.EmulateViewport(form.width, form.height))
		b.inspect(name, form.width)
	}
}

// scheme sets what the page is told of the person's preference: light or dark.
func (b *browser) scheme(name string) {
	b.t.Helper()
	b.run(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	}))
}

// forms are the sizes of windows that pages are looked at in.
var forms = []struct{ width, height int64 }{{390, 844}, {1280, 900}} //nolint:gochecknoglobals // a table

// schemes are what a page is looked at in, and which rules of axe-core ask it. The schemes differ in their colours only (light-dark() of the
// sheets takes nothing else, see TestSchemesDifferInColoursOnly), so what does not depend on colours is asked once.
var schemes = []struct{ name, rules string }{ //nolint:gochecknoglobals // a table
	{"light", `"wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"`},
	{"dark", `"color-contrast", "link-in-text-block"`},
}

// violations are what axe-core finds by rules. It takes a target that a bar at the edge of the window covers in part for a small one, so it
// looks again where the page can be scrolled to. What passes is not described.
const violations = `(async () => {
  const all = (await axe.run({runOnly: [%s], resultTypes: ["violations"]})).violations;
  for (const small of all.filter((v) => v.id === "target-size")) {
    const left = [];
    for (const node of small.nodes) {
      const target = document.querySelector(node.target[0]);
      target.scrollIntoView({block: "center"});
      const again = await axe.run(target, {runOnly: {type: "rule", values: ["target-size"]}});
      if (again.violations.length) left.push(node);
    }
    small.nodes = left;
    scrollTo(0, 0);
  }
  return all.filter((v) => v.nodes.length);
})()`

// inspect looks at the page as it is now in light and dark, lets axe-core look at it, and photographs it.
func (b *browser) inspect(page string, width int64) {
	b.t.Helper()
	if get(b, chromedp.Evaluate[bool](`document.documentElement.scrollWidth > innerWidth`)) {
		b.t.Errorf("%s-%d scrolls sideways", page, width)
	}
	for _, scheme := range schemes {
		name := fmt.Sprintf("%s-%s-%d", page, scheme.name, width)
		b.scheme(scheme.name)
		found := get(b, chromedp.Evaluate[[]violation](fmt.Sprintf(violations, scheme.rules), chromedp.EvalAwaitPromise))
		b.keep(name, get(b, chromedp.FullScreenshot(90)))
		for _, v := range found {
			b.t.Errorf("%s: %s: %s", name, v.ID, v.Help)
			for _, n := range v.Nodes {
				b.t.Logf("  %s", n.HTML)
			}
		}
	}
}

// keep stores a screenshot.
func (b *browser) keep(name string, shot []byte) {
	b.t.Helper()
	require.NoError(b.t, os.WriteFile(filepath.Join(b.shots, name+".jpg"), shot, 0o644))
}

const password = "four small words here"

// TestConsole is a day with the console.
func TestConsole(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := open(t)
	b.look("sign-in", d.ConsoleURL+"/sign-in")
	b.look("link", d.ConsoleSignIn)
	b.look("gallery", d.ConsoleURL+"/gallery")

	b.run(chromedp.Navigate(d.ConsoleSignIn))
	b.submit("form.form button")
	home := b.location()
	require.Contains(t, home, "/c/"+d.CompanyID)
	b.run(chromedp.Navigate(d.ConsoleSignIn))
	require.Contains(t, b.text("h1"), "works no more", "a link works once")

	secret := setUpTOTP(t, b, d)
	signInWithCode(t, b, d, secret)
	walk(t, b, d, home)
	breakAndMend(t, b, d)
	firstLoad(t, d)
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.faults, "the browser complained")
}

// setUpTOTP sets a password and a second factor.
func setUpTOTP(t *testing.T, b *browser, d dev) (secret string) {
	t.Helper()
	b.run(chromedp.Navigate(d.ConsoleURL + "/account"))
	b.submit("form[action='/account/password'] button", "#f-password", password)
	require.Contains(t, b.text("[role=status]"), "password is set")
	b.look("account", d.ConsoleURL+"/account")
	b.look("totp", d.ConsoleURL+"/account/totp")
	b.run(chromedp.Navigate(d.ConsoleURL + "/account/totp"))
	secret = strings.TrimSpace(b.text("p .id"))
	b.submit("form.form button", "#f-confirm", password, "#f-code", "000000")
	require.Contains(t, b.text(".fault"), "not the code of now")
	require.Equal(t, secret, strings.TrimSpace(b.text("p .id")), "a wrong code keeps the secret")
	code, err := totp.GenerateCode(secret, time.Now())
	require.NoError(t, err)
	b.submit("form.form button", "#f-confirm", password, "#f-code", code)
	require.Contains(t, b.text("h1"), "Recovery codes")
	return secret
}

func signInWithCode(t *testing.T, b *browser, d dev, secret string) {
	t.Helper()
	b.submit("nav .who button")
	require.Contains(t, b.location(), "/sign-in")
	b.submit("form.form button", "#f-email", "anna@example.com", "#f-password", "a wrong password")
	require.Contains(t, b.text("[role=alert]"), "is wrong")
	b.submit("form.form button", "#f-email", "anna@example.com", "#f-password", password)
	require.Contains(t, b.text("h1"), "Second factor")
	b.run(chromedp.Navigate(d.ConsoleURL + "/account"))
	require.Contains(t, b.text("h1"), "Second factor", "the password alone opens no page")
	code, err := totp.GenerateCode(secret, time.Now().Add(30*time.Second)) // the next one: the set-up used that of now up
	require.NoError(t, err)
	b.submit("form.form button", "#f-code", code)
	require.Contains(t, b.text("h1"), "account")
}

// walk looks at the page of each area.
func walk(t *testing.T, b *browser, d dev, home string) {
	t.Helper()
	company := strings.TrimSuffix(home, "/")
	b.look("home", home)
	b.look("webhooks", company+"/webhooks")
	b.look("deliveries", company+"/webhooks/deliveries")
	b.look("events", company+"/events")
	b.look("report", company+"/orders/report?compare=previous")
	b.look("people", company+"/people")
	b.look("invite", company+"/people/invite")
	b.look("audit", company+"/audit")
	b.look("find", company+"/find?q=nothing")

	b.run(chromedp.Navigate(company + "/events?event=order.created"))
	b.submit("tbody a")
	require.Contains(t, b.text("h1"), "order.created")
	timeline := b.text(".timeline")
	for _, step := range []string{"POST /orders", "Committed", "Published", "Subscriptions looked at: 1", "delivered"} {
		require.Contains(t, timeline, step)
	}
	event := b.location()
	b.look("event", event)
	id := event[strings.LastIndex(event, "/")+1:]
	b.run(chromedp.Navigate(company + "/"))
	b.run(chromedp.KeyEvent("/"))
	require.True(t, get(b, chromedp.Evaluate[bool](`document.activeElement.id === "find"`)), "the key / leads to the find field")
	b.run(chromedp.SetValue(chromedp.CSS("#find"), id), chromedp.SendKeys(chromedp.CSS("#find"), "\r"), chromedp.WaitVisible(chromedp.CSS(".timeline")))
	require.Equal(t, event, b.location(), "an id that is pasted into the find field leads to its page")
}

// breakAndMend breaks the receiver, sees why on the page, mends it, and sends again.
func breakAndMend(t *testing.T, b *browser, d dev) {
	t.Helper()
	company := d.ConsoleURL + "/c/" + d.CompanyID
	behave(t, d, http.StatusInternalServerError)
	b.run(chromedp.Navigate(company + "/webhooks"))
	b.submit("tbody a")
	subscription := b.location()
	b.submit("form[action$='/test'] button")
	b.until(`document.querySelector("#live").innerText.includes("HTTP 500")`)
	b.look("test-failed", b.location())
	b.look("subscription", subscription)
	require.Regexp(t, "failed|HTTP 500", b.text("p.lead"), "the page of the subscription says so in a sentence")
	require.Contains(t, b.text("#live"), "HTTP 500")
	b.look("home-trouble", company+"/")

	behave(t, d, http.StatusOK)
	b.run(chromedp.Navigate(subscription))
	b.submit("form[action$='/test'] button")
	b.until(`document.querySelector("#live .note.good") !== null`)
	b.submit("#live section.card a")
	require.Contains(t, b.text("h1"), "webhook.test")
	b.look("delivery", b.location())
	b.submit("form[action$='/redeliver'] button")
	b.until(`document.querySelector("h1").innerText.includes("delivered")`)
	b.look("audit-after", company+"/audit")
	require.Contains(t, b.text(".told"), "Sent a delivery again")
}

// behave lets the receiver of the demo answer the status to what comes.
func behave(t *testing.T, d dev, status int) {
	t.Helper()
	behaveAs(t, d, "demo", status)
}

func behaveAs(t *testing.T, d dev, name string, status int) {
	t.Helper()
	body := fmt.Sprintf(`{"mode": "status", "status": %d}`, status)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.ReceiverURL+"/behaviour/"+name, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Less(t, res.StatusCode, 300)
}

// firstLoad adds up what the first page takes over the wire.
func firstLoad(t *testing.T, d dev) {
	t.Helper()
	total := fetch(t, d.ConsoleURL+"/sign-in")
	page, err := http.Get(d.ConsoleURL + "/sign-in")
	require.NoError(t, err)
	html, err := io.ReadAll(page.Body)
	require.NoError(t, err)
	_ = page.Body.Close()
	assets := regexp.MustCompile(`/assets/[\w.-]+`).FindAllString(string(html), -1)
	require.Len(t, assets, 5)
	for _, a := range assets {
		total += fetch(t, d.ConsoleURL+a)
	}
	require.Equal(t, 1, strings.Count(string(html), `rel="stylesheet"`))
	require.Equal(t, strings.Count(string(html), "<script "), strings.Count(string(html), " defer>"), "no script keeps a page from being shown")
	t.Logf("the first load takes %d bytes", total)
	require.Less(t, total, 100<<10)
}

func fetch(t *testing.T, address string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	req.Header.Set("Accept-Encoding", "gzip, br")
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	n, err := io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode)
	return int(n)
}
