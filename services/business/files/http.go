package files

import (
	"context"
	"net/http"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/imaging"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// anyMedia lets the content say what it is.
const anyMedia = "application/octet-stream"

// uploadInput are the parameters of an upload, whose body is the file.
type uploadInput struct {
	httpapi.Call
	Name string `query:"name" maxLength:"255" pattern:"^[^/\\\\\\x00-\\x1f\\x7f]*[^/\\\\\\x00-\\x1f\\x7f\\s][^/\\\\\\x00-\\x1f\\x7f]*$" patternDescription:"a file name without a path" doc:"file name; an extension of its type is added if it has none"`
}

// contentInput are the parameters of a content. Requests without a token have all of them.
type contentInput struct {
	httpapi.ByID
	Size      string `query:"size" enum:"original,large,medium,small" default:"original"`
	CompanyOf string `query:"company" maxLength:"64" doc:"of a signed URL"`
	Expires   string `query:"expires" maxLength:"20" doc:"of a signed URL: seconds since 1970"`
	Signature string `query:"signature" maxLength:"200" doc:"of a signed URL, which needs no token"`
}

// Register adds the operations on files.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	images := []string{imaging.JPEG, imaging.PNG, imaging.GIF, imaging.WebP}
	httpapi.List(r, "/files", "listFiles", "List files", s.List,
		httpapi.Doc("Returns the images and documents of the company with signed URLs of each. Fails with 400 VALIDATION_ERROR for an unknown filter."))
	httpapi.ChangePrepared(r, "/files", "createFile", "Upload a file", s.upload, s.add,
		httpapi.Answers(http.StatusCreated), httpapi.Uploads(MaxSize, append(slices.Concat(images, documents), anyMedia)...),
		httpapi.Doc("Stores the image in the body, of at most 10 MiB, with three thumbnails, or a document as it is; it is removed after 24 hours unless a record refers to it. "+
			"Fails with 400 VALIDATION_ERROR for what is neither a complete JPEG, PNG, GIF or WebP image nor a PDF, text, CSV, DOCX, XLSX, ODT or ODS, or has too many pixels, 409 FILE_QUOTA_EXCEEDED, 413 PAYLOAD_TOO_LARGE, 415 UNSUPPORTED_MEDIA_TYPE, and 503 while too many images are being read."))
	httpapi.ChangePrepared(r, "/files/fetch", "fetchFile", "Download an image from a URL", s.fetch, s.addFetched, httpapi.Answers(http.StatusCreated), httpapi.Records("/files"),
		httpapi.Doc("Downloads an image of at most 10 MiB from a public host within 10 seconds and stores it as an upload is; an image that the company has already is answered with the file that it has. "+
			"Fails with IMAGE_FETCH_FAILED, whose meta.reason says why, also for what is no image, with FILE_QUOTA_EXCEEDED, and with 503 while too many images are being downloaded."))
	httpapi.Get(r, "/files/{id}", "getFile", "Read a file", s.Get,
		httpapi.Doc("Returns what a file is, with signed URLs of the original and the thumbnails that anybody can open for about an hour. Fails with 404 FILE_NOT_FOUND."))
	httpapi.View(r, "/files/{id}/content", "getFileContent", "Download a file", s.content,
		httpapi.Files(slices.Concat(images, documents)...), httpapi.AcceptSignedURL(s.guest),
		httpapi.Header("ETag", "SHA-256 of the content in quotes, for `If-None-Match`"),
		httpapi.Header("Cache-Control", "how long the content may be kept: with a signed URL, until it expires"),
		httpapi.Header("Content-Security-Policy", "keeps the content from running anything in a browser"),
		httpapi.Header("Cross-Origin-Resource-Policy", "lets pages of any site show an image; those of other sites do not load a document"),
		httpapi.Doc("Returns the original or a thumbnail, a document as an attachment, with its SHA-256 as the ETag, to a token or to whoever has a signed URL. "+
			"Fails with 403 FILE_URL_INVALID or FILE_URL_EXPIRED for a signature, 404 FILE_NOT_FOUND, and 404 FILE_CONTENT_MISSING if the store has lost the content."))
	httpapi.Delete(r, "/files/{id}", "deleteFile", "Delete a file", s.Delete,
		httpapi.Doc("Deletes a file with its thumbnails; its signed URLs end at once. Fails with 404 FILE_NOT_FOUND, and 409 FILE_IN_USE with the records that refer to it in meta.usedBy."))
}

func (s *Service) content(ctx context.Context, in *contentInput) (httpapi.File, error) {
	return s.Content(ctx, in.Company, in.ID, in.Size)
}

func (s *Service) upload(ctx context.Context, in *uploadInput) (File, error) {
	u := in.Upload()
	return s.Prepare(ctx, in.Company, Image{Name: in.Name, Media: u.Media, Size: u.Size, Body: u.Reader(), Hash: u.SHA256, OrDocument: true})
}

func (s *Service) add(ctx context.Context, tx *db.Tx, in *uploadInput, f File) (File, error) {
	return s.Add(ctx, tx, in.Caller, f)
}
