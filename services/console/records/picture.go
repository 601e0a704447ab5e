package records

import (
	"cmp"
	"slices"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// offerPictures lets people choose one of the pictures of a record for a row of it, such as a variant of a product. Without pictures,
// the form does not ask.
func offerPictures(q *web.Request, s shown, c resources.Command, f *web.Fields) {
	if c.Picture == "" {
		return
	}
	own := s.changed().Text(c.Picture)
	files := slices.Clone(s.record.Texts(s.res.Pictures))
	if own != "" && !slices.Contains(files, own) {
		files = append(files, own)
	}
	if len(files) == 0 {
		f.But = append(f.But, c.Picture)
		return
	}
	name := s.record.Text(s.res.Title)
	all := []web.Option{{Text: q.T("records.picture.none")}}
	for i, file := range files {
		pic := q.Picture(file, "small", s.record.Text("emoji"), name)
		all = append(all, web.Option{Value: file, Text: q.T("records.picture", i+1), Picture: &pic})
	}
	f.Pick[c.Picture] = all
}

// pictureOf is the picture of a row, which otherwise has that of the record.
func pictureOf(q *web.Request, s shown, t resources.Table, row resources.Record) web.Picture {
	file := cmp.Or(row.Text(t.Picture), s.record.Text(s.res.Picture))
	return q.Picture(file, "small", s.record.Text("emoji"), s.record.Text(s.res.Title))
}
