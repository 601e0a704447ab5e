package imports

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/imports"
)

// choosePage is the page on which a file is chosen, and what its columns are.
type choosePage struct {
	Header web.Header
	Post   string // checks the rows
	Look   string // shows the columns
	Fault  string
	Plan   *plan // nil before a file was looked at
	Kinds  string
}

// plan is how the file will be understood.
type plan struct {
	File    string
	Lead    string
	Faults  []string
	Columns []planColumn
	Choices []web.Field
	Button  string // "" = the rows cannot be checked like this
	Again   bool   // the person has changed something, so that the focus stays where it is
}

// planColumn is a column of the file.
type planColumn struct {
	No     int
	Name   string
	Field  web.Field
	Values []web.Cell // of the first rows
	Out    bool       // it is not imported
}

// origin is the source of external ids of files that name none.
const origin = "import"

func (pages *Pages) choose(res resources.Resource) web.Handler {
	return func(_ context.Context, q *web.Request) (web.Answer, error) {
		return pages.chosen(q, res, nil, "")
	}
}

func (pages *Pages) chosen(q *web.Request, res resources.Resource, p *plan, fault string) (web.Answer, error) {
	at := q.Path(res.Address + "/import")
	title := q.T("imports.title", res.Heading(q))
	page := choosePage{
		Header: web.Header{Title: title, Crumbs: []web.Link{{Text: res.Heading(q), Href: q.Path(res.Address)}}},
		Post:   at, Look: at + "/preview", Fault: fault, Plan: p, Kinds: q.T("imports.kinds." + res.Name),
	}
	answer := web.Show("imports/choose", title, page)
	if fault != "" {
		answer = answer.Refuse()
	}
	return answer, nil
}

// oldWorkbook begins what Excel wrote before 2007, and workbooks with a password.
var oldWorkbook = []byte{0xd0, 0xcf, 0x11, 0xe0}

// sent is the file of the form, and what it is.
func sent(q *web.Request, charset string) (name string, file *httpapi.Sent, fault string, err error) {
	f, err := q.NextFile()
	if errors.Is(err, io.EOF) {
		return "", nil, q.T("imports.none"), nil
	}
	if err != nil {
		return "", nil, "", err
	}
	body := bufio.NewReader(f.Body)
	start, _ := body.Peek(len(oldWorkbook)) // a shorter file has another start
	media := "text/csv"
	switch {
	case bytes.Equal(start, oldWorkbook):
		return f.Name, nil, q.T("imports.old"), nil
	case bytes.HasPrefix(start, []byte("PK")):
		media = spreadsheet.MediaXLSX
	case charset != "":
		media += "; charset=" + charset
	}
	return f.Name, &httpapi.Sent{Media: media, Body: body}, "", nil
}

// query are the parameters that the form has chosen.
func query(q *web.Request, res resources.Resource) url.Values {
	in := url.Values{"resource": {res.Name}}
	for _, name := range []string{"key", "decimalSeparator"} {
		if value := q.Form.Get(name); value != "" {
			in.Set(name, value)
		}
	}
	var columns []string
	for i := 0; q.Form.Has("column." + strconv.Itoa(i)); i++ {
		columns = append(columns, q.Form.Get("column."+strconv.Itoa(i)))
	}
	if len(columns) > 0 {
		in.Set("columns", strings.Join(columns, ","))
	}
	if !slices.Contains(columns, "source") && (len(columns) == 0 || slices.Contains(columns, "externalId")) {
		in.Set("source", origin)
	}
	return in
}

// preview shows how the file will be understood.
func (pages *Pages) preview(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		name, file, fault, err := sent(q, q.Form.Get("charset"))
		if err != nil {
			return web.Answer{}, err
		}
		if fault != "" {
			return pages.chosen(q, res, nil, fault)
		}
		again := q.Form.Get("file.name") == name
		if !again { // another file has other columns
			q.Form = url.Values{}
		}
		p, err := web.Call[imports.Preview](ctx, q, "previewImport", web.Input{Query: query(q, res), File: file})
		if web.Refused(err) {
			return pages.chosen(q, res, nil, faultOf(q, err))
		}
		if err != nil {
			return web.Answer{}, err
		}
		return pages.chosen(q, res, planOf(q, res, p, name, again), "")
	}
}

// faultOf is what is wrong with a file.
func faultOf(q *web.Request, err error) string {
	known, ok := apierr.As(err)
	switch {
	case !ok:
		return ""
	case known.Status == http.StatusRequestEntityTooLarge:
		return q.T("imports.large")
	case len(known.Fields) == 0:
		return q.Words(known.Message)
	}
	return wrong(q, known.Fields[0])
}

// check starts a dry run, and leads to its progress.
func (pages *Pages) check(res resources.Resource) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		_, file, fault, err := sent(q, q.Form.Get("charset"))
		if err != nil {
			return web.Answer{}, err
		}
		if fault != "" {
			return pages.chosen(q, res, nil, fault)
		}
		in := query(q, res)
		in.Set("dryRun", "true")
		started, err := web.Call[job.Record](ctx, q, "startImport", web.Input{Query: in, File: file})
		if web.Refused(err) {
			return pages.chosen(q, res, nil, faultOf(q, err))
		}
		if err != nil {
			return web.Answer{}, err
		}
		return web.Started(q.Path(res.Address+"/import/"+started.ID.String()), started.ID), nil
	}
}
