package pictures

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/files"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// maxForm is what a form with images may have, several of them.
const maxForm = 64 << 20

// list is a field with the ids of files, which a page shows.
type list struct {
	res       resources.Resource
	field     string
	anchor    string // of the page
	fault     string // parameter of the page that says what was wrong
	documents bool   // files may be documents, too
}

func pictures(res resources.Resource) list {
	return list{res, res.Pictures, "#pictures", "picture", false}
}

func attachments(res resources.Resource) list { return list{res, res.Files, "#files", "file", true} }

// of is a record whose images, or other files, are changed.
type of struct {
	list
	id      string
	images  []string
	version int64
}

func read(ctx context.Context, q *web.Request, l list) (of, error) {
	r := of{list: l, id: q.HTTP.PathValue("id")}
	if _, err := uuid.Parse(r.id); err != nil {
		return r, web.NoPage()
	}
	raw, err := web.Call[web.JSON](ctx, q, l.res.Get, r.input())
	if err != nil {
		return r, err
	}
	var record map[string]json.RawMessage
	if err := web.Decode(raw, &record); err != nil {
		return r, err
	}
	if err := web.Decode(record[l.field], &r.images); err != nil {
		return r, err
	}
	return r, web.Decode(record["version"], &r.version)
}

func (r of) input() web.Input { return web.Input{Path: map[string]string{"id": r.id}} }

// back leads to the page of the record, which says what was done.
func (r of) back(q *web.Request, said ...string) web.Answer {
	return web.Go(web.With(q.Path(r.res.Page+"/"+r.id), said...) + r.anchor)
}

// store gives the record its images in their order. If somebody has changed the record meanwhile, edit is applied to what it is now.
func store(ctx context.Context, q *web.Request, r of, edit func([]string) []string) error {
	for again := false; ; again = true {
		in := r.input()
		in.Version = r.version
		in.Body = map[string]any{r.field: edit(slices.Clone(r.images))}
		_, err := web.Call[web.JSON](ctx, q, r.res.Changes(), in)
		known, ok := apierr.As(err)
		if !ok || known.Status != http.StatusPreconditionFailed || again {
			return err
		}
		if r, err = read(ctx, q, r.list); err != nil {
			return err
		}
	}
}

// add stores the images of the form, and puts them behind those that there are, or in the place of one.
func (pages *Pages) add(l list) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		r, err := read(ctx, q, l)
		if err != nil {
			return web.Answer{}, err
		}
		made, fault, err := upload(ctx, q, l.documents)
		if err != nil {
			return web.Answer{}, err
		}
		if len(made) == 0 {
			return r.back(q, l.fault, fault), nil
		}
		err = store(ctx, q, r, func(all []string) []string { return placed(all, made, q.Form.Get("replace")) })
		if web.Refused(err) {
			return r.back(q, l.fault, "many"), nil
		}
		return r.back(q, l.fault, fault), err
	}
}

// placed are images with new ones in the place of another, or at the end.
func placed(all, made []string, replace string) []string {
	if i := slices.Index(all, replace); i >= 0 {
		return slices.Replace(all, i, i+1, made...)
	}
	return append(all, made...)
}

// upload stores the images, or also documents, of a form until one is refused.
func upload(ctx context.Context, q *web.Request, documents bool) (made []string, fault string, err error) {
	for {
		f, err := q.NextFile()
		if errors.Is(err, io.EOF) {
			return made, "", nil
		}
		if err != nil {
			return nil, "", err
		}
		in := web.Input{Query: url.Values{"name": {fileName(f.Name)}}, File: &httpapi.Sent{Media: "application/octet-stream", Body: f.Body}}
		one, err := web.Call[files.File](ctx, q, "createFile", in)
		if web.Refused(err) {
			return made, faultOf(err), nil
		}
		if err != nil {
			return nil, "", err
		}
		if one.Width == 0 && !documents { // a document, which nothing refers to yet
			_, err := web.Call[web.JSON](ctx, q, "deleteFile", web.Input{Path: map[string]string{"id": one.ID.String()}})
			return made, "format", err
		}
		made = append(made, one.ID.String())
	}
}

// maxName is how long the name of a file may be.
const maxName = 200

func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '/' || r == '\\' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if r := []rune(strings.TrimSpace(name)); len(r) > 0 {
		return string(r[max(0, len(r)-maxName):])
	}
	return "image"
}

// faultOf is one of [resources.PictureFaults].
func faultOf(err error) string {
	known, _ := apierr.As(err)
	switch {
	case known.Status == http.StatusRequestEntityTooLarge:
		return "large"
	case known.Code == "FILE_QUOTA_EXCEEDED":
		return "quota"
	case len(known.Fields) > 0 && known.Fields[0].Code == apierr.Max:
		return "pixels"
	case len(known.Fields) > 0:
		return "format"
	}
	return "other"
}

// change moves, removes or brings back an image.
func (pages *Pages) change(l list) web.Handler {
	return func(ctx context.Context, q *web.Request) (web.Answer, error) {
		r, err := read(ctx, q, l)
		if err != nil {
			return web.Answer{}, err
		}
		said := []string{}
		for _, by := range []string{"first", "up", "down", "drop", "restore", "order"} {
			value := q.Form.Get(by)
			if value == "" {
				continue
			}
			switch by {
			case "drop":
				said = []string{"gone", value, "at", strconv.Itoa(slices.Index(r.images, value))}
			case "restore", "order":
			default:
				said = []string{"moved", value, "by", by}
			}
			err := store(ctx, q, r, func(all []string) []string { return moved(all, by, value) })
			if web.Refused(err) {
				said = []string{l.fault, "other"}
			} else if err != nil {
				return web.Answer{}, err
			}
			break
		}
		return r.back(q, said...), nil
	}
}

// moved are the images after a step.
func moved(all []string, by, value string) []string {
	id, place, _ := strings.Cut(value, " ")
	i := slices.Index(all, id)
	switch {
	case by == "order":
		order := strings.Split(value, ",")
		slices.SortStableFunc(all, func(a, b string) int { return rank(order, a) - rank(order, b) })
	case by == "restore" && i < 0:
		at, err := strconv.Atoi(place)
		if err != nil {
			at = len(all)
		}
		return slices.Insert(all, min(max(at, 0), len(all)), id)
	case i < 0:
	case by == "drop":
		return slices.Delete(all, i, i+1)
	case by == "first":
		return slices.Insert(slices.Delete(all, i, i+1), 0, id)
	case by == "up" && i > 0:
		all[i-1], all[i] = all[i], all[i-1]
	case by == "down" && i < len(all)-1:
		all[i], all[i+1] = all[i+1], all[i]
	}
	return all
}

// rank is the place of an image in an order; those that it does not name follow.
func rank(order []string, id string) int {
	if i := slices.Index(order, id); i >= 0 {
		return i
	}
	return len(order)
}
