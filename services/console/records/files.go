package records

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// mostFiles is how many files a record may have.
const mostFiles = 20

// filesCard is the files of a record, with what the last change of them says.
type filesCard struct {
	Table web.Table
	Add   string // where files are sent; "" = the person may add none
	Full  bool   // there is no room for more
	Gone  *goneFile
	Fault string
}

// goneFile is the file that was removed last, and how it comes back.
type goneFile struct{ Post, Value string }

// files are those of the record; nil = it has none, and the person may add none.
func (pages *Pages) files(ctx context.Context, q *web.Request, s shown) (*filesCard, error) {
	if s.res.Files == "" || !q.MayCall("listFiles") {
		return nil, nil //nolint:nilnil // there is no card
	}
	ids := s.record.Texts(s.res.Files)
	changes := q.MayCall(s.res.Changes()) && q.MayCall("createFile")
	if len(ids) == 0 && !changes {
		return nil, nil //nolint:nilnil // there is no card
	}
	at := q.Path(s.res.Page + "/" + s.record.Text("id") + "/files")
	card := &filesCard{Table: web.Table{Label: q.T("files.title"), Columns: []web.Column{
		{Text: q.T("files.name")}, {Text: q.T("files.type")}, {Text: q.T("files.size"), Num: true}, {Text: q.T("files.added")}, {Text: q.T("files.by")},
	}}}
	if changes {
		card.Add, card.Full = at, len(ids) >= mostFiles
		card.Table.Columns = append(card.Table.Columns, web.Column{})
	}
	found, err := filesByID(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		r, ok := found[id]
		if !ok {
			continue
		}
		row, err := pages.fileRow(ctx, q, s, r)
		if err != nil {
			return nil, err
		}
		if changes {
			row = append(row, web.Do(web.Action{Text: q.T("files.drop"), Name: r.Text("name"), Post: at + "/change", Values: map[string]string{"drop": id}, Small: true}))
		}
		card.Table.Rows = append(card.Table.Rows, row)
	}
	asked := q.HTTP.URL.Query()
	if fault := web.OneOf(asked.Get("file"), resources.PictureFaults); fault != "" {
		card.Fault = q.T("files.fault." + fault)
	}
	if gone := asked.Get("gone"); changes && gone != "" && !slices.Contains(ids, gone) {
		place, _ := strconv.Atoi(asked.Get("at")) // else it comes first
		card.Gone = &goneFile{at + "/change", gone + " " + strconv.Itoa(place)}
	}
	return card, nil
}

func (pages *Pages) fileRow(ctx context.Context, q *web.Request, s shown, r resources.Record) ([]web.Cell, error) {
	row := []web.Cell{web.LinkTo(r.Text("name"), q.Path("/files/"+r.Text("id"))), web.Text(typeOf(q, r.Text("mediaType"))), web.Number(q.Bytes(r.Number("size")))}
	for _, c := range []resources.Column{{Name: "createdAt", Kind: resources.AsTime}, {Name: "createdById", Kind: resources.AsEntry}} {
		cell, err := pages.cell(ctx, q, c, r, s.names)
		if err != nil {
			return nil, err
		}
		row = append(row, cell)
	}
	return row, nil
}

// typeOf is what people call a type of files: Word, PDF, a picture.
func typeOf(q *web.Request, media string) string {
	kind, sub, _ := strings.Cut(media, "/")
	if kind == "image" {
		return q.T("files.type.image")
	}
	return q.T("files.type." + sub[strings.LastIndex(sub, ".")+1:])
}

// filesByID reads files by their ids.
func filesByID(ctx context.Context, q *web.Request, ids []string) (map[string]resources.Record, error) {
	found := map[string]resources.Record{}
	if len(ids) == 0 {
		return found, nil
	}
	raw, err := web.Call[web.JSON](ctx, q, "listFiles", web.Input{Query: url.Values{"ids": {strings.Join(ids, ",")}}})
	if err != nil {
		return nil, err
	}
	var page struct {
		Items []resources.Record `json:"items"`
	}
	if err := resources.Decode(raw, &page); err != nil {
		return nil, err
	}
	for _, r := range page.Items {
		found[r.Text("id")] = r
	}
	return found, nil
}
