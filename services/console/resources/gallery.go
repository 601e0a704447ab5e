package resources

import (
	"slices"
	"strconv"

	"github.com/tradegrid/tradegrid/services/console/web"
)

// mostPictures is how many images a record may have.
const mostPictures = 20

// PictureFaults are what can be wrong with images and other files, by the texts of the page.
var PictureFaults = []string{"format", "large", "pixels", "quota", "many", "other"}

// GalleryOf are the images of a record for its page, with what the last change of them says; nil = the record has none, and the person may
// add none.
func GalleryOf(q *web.Request, res Resource, r Record) *web.Gallery {
	if res.Pictures == "" {
		return nil
	}
	images, name := r.Texts(res.Pictures), r.Text(res.Title)
	changes := q.MayCall(res.Changes()) && q.MayCall("createFile")
	if len(images) == 0 && !changes {
		return nil
	}
	g := &web.Gallery{Name: name, Main: q.Picture("", "large", r.Text("emoji"), name)}
	if len(images) > 0 {
		g.Main = q.Picture(images[0], "large", "", name)
	}
	g.Main.Size, g.Main.Alt = "l", name
	if at := q.Path(res.Page + "/" + r.Text("id") + "/pictures"); changes {
		g.Change = at + "/change"
		g.Add, g.Full = at, len(images) >= mostPictures
	}
	asked := q.HTTP.URL.Query()
	for i, id := range images {
		one := web.GalleryImage{
			ID: id, Picture: q.Picture(id, "small", "", name), Large: q.Picture(id, "large", "", name).Src,
			Alt: q.T("pictures.alt", name, i+1, len(images)), First: i == 0, Last: i == len(images)-1,
		}
		one.Picture.Size = "t"
		if asked.Get("moved") == id {
			one.Focus = focusOf(asked.Get("by"), one)
		}
		g.Images = append(g.Images, one)
	}
	if fault := web.OneOf(asked.Get("picture"), PictureFaults); fault != "" {
		g.Fault = q.T("pictures.fault." + fault)
	}
	if gone := q.Picture(asked.Get("gone"), "small", "", name); changes && gone.Src != "" && !slices.Contains(images, asked.Get("gone")) {
		at, _ := strconv.Atoi(asked.Get("at")) // else it comes first
		g.Gone = asked.Get("gone") + " " + strconv.Itoa(at)
	}
	return g
}

// focusOf is the button that gets the focus again, of those that the image still has.
func focusOf(by string, one web.GalleryImage) string {
	switch {
	case one.First:
		return "down"
	case one.Last || by == "first":
		return "up"
	}
	return by
}
