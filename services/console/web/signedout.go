package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// SignInBack is the address to which people come who have signed in for a form that waits in another tab.
const SignInBack = "/sign-in/back"

// signedOut is the page of a form that was sent without a session. It has what was sent, to be sent again after signing in in
// another tab, so that nothing is lost.
type signedOut struct {
	Post   string
	SignIn Link
	Fields []Option // name and value of each
}

// secretFields are those of forms that prove who somebody is, or that are stored as secrets. A page keeps none of them.
var secretFields = []string{"password", "current", "confirm", "off", "code", "token", "credential", "secret", "clientkey", "clientcertificate", "headers"}

// carried are the fields that were sent; nil if there is none, or if one is a secret: such a form is filled in anew.
func carried(form url.Values) (fields []Option) {
	for name, values := range form {
		last := strings.ToLower(lastName(name))
		for _, v := range values {
			if v != "" && slices.Contains(secretFields, last) {
				return nil
			}
			fields = append(fields, Option{Value: v, Text: name})
		}
	}
	slices.SortStableFunc(fields, func(x, y Option) int { return strings.Compare(x.Text, y.Text) })
	return fields
}

// signInFirst leads whoever is not signed in to the page to sign in, or keeps the form that was sent meanwhile.
func (q *Request) signInFirst(page string) Answer {
	if q.HTTP.Method != http.MethodPost || q.HTTP.ParseForm() != nil {
		return Go(page)
	}
	p := signedOut{Post: q.HTTP.URL.RequestURI(), SignIn: Link{Text: q.T("signedout.signin"), Href: With("/sign-in", "next", SignInBack)}, Fields: carried(q.HTTP.PostForm)}
	if p.Fields == nil {
		return Go(page)
	}
	return Show("frame/signedout", q.T("signedout.title"), p).Status(http.StatusUnauthorized)
}
