package quickstart

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/services/console/web"
	webhookpages "github.com/tradegrid/tradegrid/services/console/webhooks"
)

// languages are those of the examples, the first by default.
var languages = []string{"curl", "go", "node", "python"}

// step is a step of the page.
type step struct {
	No       int
	Title    string
	Done     bool
	Current  bool // the first that is not done
	Text     string
	Found    *web.Cell // what shows that it is done, or how far it is
	Links    []web.Link
	Action   *web.Action
	Snippets []web.Snippet
}

func (pages *Pages) steps(q *web.Request, f facts, lang string) []step {
	all := []step{pages.tokenStep(q, f), pages.callStep(q, f, lang), pages.subscribeStep(q, f), pages.verifyStep(q, f, lang), pages.arriveStep(q, f)}
	for i := range all {
		all[i].No = i + 1
	}
	return all
}

func (pages *Pages) tokenStep(q *web.Request, f facts) step {
	s := step{Title: q.T("quickstart.token"), Text: q.T("quickstart.token.text"), Done: f.token != nil, Snippets: []web.Snippet{
		{ID: "environment", Text: "export BASE=" + pages.API + "\nexport TOKEN=" + q.T("quickstart.your_token")},
	}}
	if f.token != nil {
		found := web.LinkTo(f.token.Name, q.Path("/tokens/"+f.token.ID.String())).With(q.ScopesInWords(f.token.Scopes))
		s.Found = &found
	} else if q.Allows(scope, true) {
		s.Links = []web.Link{{Text: q.T("tokens.issue"), Href: q.Path("/tokens/new")}}
	} else {
		s.Text += " " + q.T("quickstart.token.ask")
	}
	return s
}

func (pages *Pages) callStep(q *web.Request, f facts, lang string) step {
	s := step{Title: q.T("quickstart.call"), Text: q.T("quickstart.call.text"), Done: f.call != nil, Snippets: []web.Snippet{
		{ID: "call", Title: fileNames[lang], Text: FirstCall(pages.Docs, lang)},
	}}
	switch {
	case f.call != nil:
		found := web.LinkTo(f.call.Method+" "+f.call.Route, q.Path("/requests/"+f.call.ID.String())).With(q.At(f.call.CreatedAt.Std()).Short())
		s.Found = &found
	case f.token != nil && f.token.LastUsedAt != nil: // longer ago than the log reaches
		found := web.Text(q.T("tokens.used.at", q.At(f.token.LastUsedAt.Std()).Short()))
		s.Found, s.Done = &found, true
	}
	return s
}

func (pages *Pages) subscribeStep(q *web.Request, f facts) step {
	receiver := map[string]any{"url": "https://example.com/hook", "events": []string{"*"}}
	root := strings.TrimSuffix(pages.API, httpapi.BasePath)
	s := step{
		Title: q.T("quickstart.subscribe"), Text: q.T("quickstart.subscribe.text"), Done: f.count > 0 || f.follow != nil,
		Links: []web.Link{{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}},
		Snippets: []web.Snippet{
			{ID: "subscribe", Title: q.T("quickstart.subscribe.public"), Text: q.Curl("createWebhookSubscription", web.Input{Body: receiver})},
			{ID: "listen", Title: q.T("quickstart.subscribe.local"), Text: "tradegrid login --url " + root + " --token $TOKEN\ntradegrid listen --forward-to http://localhost:3000/hook"},
		},
	}
	switch {
	case f.count > 0:
		found := web.LinkTo(webhookpages.Name(*f.first), q.Path("/webhooks/"+f.first.ID.String())).With(f.first.URL)
		s.Found = &found
	case f.follow != nil:
		found := web.LinkTo(q.T("quickstart.follows", f.follow.TokenName), q.Path("/requests/"+f.follow.ID.String())).With(q.At(f.follow.CreatedAt.Std()).Short())
		s.Found = &found
	}
	return s
}

// A body, a secret and their signature, by which a function that verifies can be tried.
const (
	trySecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
	tryBody   = `{"event":"webhook.test"}`
)

func (pages *Pages) verifyStep(q *web.Request, f facts, lang string) step {
	mac := hmac.New(sha256.New, []byte(trySecret))
	mac.Write([]byte(tryBody))
	try := fmt.Sprintf("curl -i http://localhost:3000/hook -H 'X-Svc-Signature: sha256=%s' -d '%s'", hex.EncodeToString(mac.Sum(nil)), tryBody)
	s := step{Title: q.T("quickstart.verify"), Text: q.T("quickstart.verify.text", trySecret), Done: f.delivered()}
	switch lang {
	case "node":
		s.Snippets = []web.Snippet{{ID: "verify", Title: q.T("quickstart.lang.node"), Text: example(pages.Docs, "verify.md", "## Node", "js")}}
	case "python":
		s.Snippets = []web.Snippet{{ID: "verify", Title: q.T("quickstart.lang.python"), Text: example(pages.Docs, "verify.md", "## Python", "python")}}
	default:
		s.Snippets = []web.Snippet{{ID: "verify", Title: q.T("quickstart.lang.go"), Text: example(pages.Docs, "webhooks.md", "## Verify", "go")}}
	}
	s.Snippets = append(s.Snippets, web.Snippet{ID: "try", Title: q.T("quickstart.verify.try"), Text: try})
	return s
}

func (pages *Pages) arriveStep(q *web.Request, f facts) step {
	s := step{Title: q.T("quickstart.arrive"), Text: q.T("quickstart.arrive.text"), Done: f.delivered()}
	switch {
	case f.first == nil && f.follow != nil:
		s.Text = q.T("quickstart.arrive.listen")
		s.Snippets = []web.Snippet{{ID: "trigger", Text: "tradegrid trigger client.created"}}
	case f.first == nil:
		s.Text = q.T("quickstart.arrive.first_subscribe")
	case f.delivered():
		found := web.LinkTo(webhookpages.Name(*f.first), q.Path("/webhooks/"+f.first.ID.String())).With(q.At(f.first.LastSuccessAt.Std()).Short())
		s.Found = &found
	default:
		state := webhookpages.Sentence(q, *f.first)
		found := web.LinkTo(webhookpages.Name(*f.first), q.Path("/webhooks/"+f.first.ID.String())).With(state.Title)
		s.Found = &found
		if q.Allows("webhooks", true) {
			s.Action = &web.Action{Text: q.T("webhooks.test"), Post: q.Path("/webhooks/" + f.first.ID.String() + "/test"), Kind: "primary"}
		}
	}
	return s
}

// fences are the languages as code of the documentation names them, fileNames where to put the example.
var (
	fences    = map[string]string{"curl": "sh", "go": "go", "node": "js", "python": "python"}
	fileNames = map[string]string{"curl": "", "go": "main.go", "node": "first.mjs", "python": "first.py"}
)

// FirstCall is the example of the documentation for a first call, in one of the languages of the page.
func FirstCall(docs fs.FS, lang string) string {
	return example(docs, "quick-start.md", "## 2.", fences[lang])
}

// example is the first code in a language below a heading of a page of the documentation; "" if there is none.
func example(docs fs.FS, name, heading, language string) string {
	raw, err := fs.ReadFile(docs, name)
	if err != nil {
		return ""
	}
	_, text, ok := strings.Cut(string(raw), "\n"+heading)
	if !ok {
		return ""
	}
	if end := strings.Index(text, "\n## "); end >= 0 {
		text = text[:end]
	}
	_, text, ok = strings.Cut(text, "\n```"+language+"\n")
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n```")
	return text
}
