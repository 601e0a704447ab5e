package platform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/services/console/web"
)

const (
	mailsShown = 100
	maxMail    = 256 << 10
)

var (
	mailName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.eml$`)
	address  = regexp.MustCompile(`https?://[^\s<>"]+`)
)

type mailboxPage struct {
	Header web.Header
	Table  web.Table
}

type mailPage struct {
	Header web.Header
	Facts  []web.Fact
	Text   string
	Links  []web.Link
}

// mailbox lists the mails of `tradegrid dev`, newest first.
func (pages *Pages) mailbox(_ context.Context, q *web.Request) (web.Answer, error) {
	p := mailboxPage{Header: web.Header{Title: q.T("area.mailbox"), Facts: q.T("platform.mail.intro")}, Table: web.Table{
		Label: q.T("area.mailbox"), Columns: []web.Column{{Text: q.T("platform.mail.subject")}, {Text: q.T("platform.mail.to")}, {Text: q.T("audit.when")}},
		Empty: web.Empty{Title: q.T("platform.mail.none"), Text: q.T("platform.mail.none.text")},
	}}
	names, err := pages.newest()
	if err != nil {
		return web.Answer{}, err
	}
	for _, name := range names {
		m, err := pages.readMail(name)
		if err != nil {
			return web.Answer{}, err
		}
		p.Table.Rows = append(p.Table.Rows, []web.Cell{web.LinkTo(m.subject, "/platform/mail/"+web.Segment(name)), web.Text(m.to), web.When(q.At(m.at))})
	}
	return web.Show("platform/mailbox", q.T("area.mailbox"), p), nil
}

// newest are the names of the files that were written last.
func (pages *Pages) newest() ([]string, error) {
	entries, err := os.ReadDir(pages.MailDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read mailbox: %w", err)
	}
	type file struct {
		name string
		at   time.Time
	}
	var all []file
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !mailName.MatchString(e.Name()) {
			continue // deleted since, or no mail
		}
		all = append(all, file{e.Name(), info.ModTime()})
	}
	slices.SortFunc(all, func(x, y file) int { return cmp.Or(y.at.Compare(x.at), strings.Compare(x.name, y.name)) })
	names := make([]string, 0, mailsShown)
	for _, f := range all[:min(len(all), mailsShown)] {
		names = append(names, f.name)
	}
	return names, nil
}

type message struct {
	subject, to, from, text string
	at                      time.Time
}

// readMail reads a mail as package notice writes it: one part of text.
func (pages *Pages) readMail(name string) (m message, err error) {
	root, err := os.OpenRoot(pages.MailDir)
	if err != nil {
		return m, fmt.Errorf("open mailbox: %w", err)
	}
	defer func() { _ = root.Close() }()
	f, err := root.Open(name)
	if err != nil {
		return m, fmt.Errorf("open mail: %w", err)
	}
	defer func() { _ = f.Close() }()
	got, err := mail.ReadMessage(io.LimitReader(f, maxMail))
	if err != nil {
		return m, fmt.Errorf("read mail: %w", err)
	}
	decoder := mime.WordDecoder{}
	header := func(key string) string {
		text, err := decoder.DecodeHeader(got.Header.Get(key))
		if err != nil {
			return got.Header.Get(key)
		}
		return text
	}
	m = message{subject: cmp.Or(header("Subject"), name), to: header("To"), from: header("From")}
	if m.at, err = got.Header.Date(); err != nil {
		m.at = time.Time{}
	}
	body := got.Body
	if strings.EqualFold(got.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return m, fmt.Errorf("read mail: %w", err)
	}
	m.text = strings.ToValidUTF8(strings.ReplaceAll(string(text), "\r\n", "\n"), "�")
	return m, nil
}

func (pages *Pages) mail(_ context.Context, q *web.Request) (web.Answer, error) {
	name := q.HTTP.PathValue("name")
	if !mailName.MatchString(name) {
		return web.Answer{}, web.NoPage()
	}
	m, err := pages.readMail(name)
	if errors.Is(err, fs.ErrNotExist) {
		return web.Answer{}, web.NoPage()
	}
	if err != nil {
		return web.Answer{}, err
	}
	p := mailPage{
		Header: web.Header{Title: m.subject, Crumbs: []web.Link{{Text: q.T("area.mailbox"), Href: "/platform/mail"}}}, Text: m.text,
		Facts: []web.Fact{{Label: q.T("platform.mail.from"), Cell: web.Text(m.from)}, {Label: q.T("platform.mail.to"), Cell: web.Text(m.to)}, {Label: q.T("audit.when"), Cell: web.When(q.At(m.at))}},
	}
	for _, link := range address.FindAllString(m.text, 10) {
		link = strings.TrimRight(link, ".,)")
		p.Links = append(p.Links, web.Link{Text: link, Href: link})
	}
	return web.Show("platform/mail", m.subject, p), nil
}
