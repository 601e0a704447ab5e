package catalog

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// settlePhotos makes photoFileId the first of photoFileIds, whichever of them has changed: a new list decides by itself; a new
// photoFileId takes the place of the first image, and null removes all. See docs/reference/files.md#products.
func (p *Product) settlePhotos(before Product) error {
	var faults apierr.Fields
	for i, id := range p.PhotoFileIDs {
		if slices.Contains(p.PhotoFileIDs[:i], id) {
			faults.Add(fmt.Sprintf("photoFileIds[%d]", i), apierr.Conflict, "is a duplicate; name each file once")
		}
	}
	changed := !record.Same(before.PhotoFileID, p.PhotoFileID)
	switch {
	case !slices.Equal(before.PhotoFileIDs, p.PhotoFileIDs):
		var first *uuid.UUID
		if len(p.PhotoFileIDs) > 0 {
			first = &p.PhotoFileIDs[0]
		}
		if changed && !record.Same(first, p.PhotoFileID) {
			faults.Add("photoFileId", apierr.Conflict, "must be the first of photoFileIds; send one of the two")
		}
		p.PhotoFileID = first
	case changed && p.PhotoFileID == nil:
		p.PhotoFileIDs = nil
	case changed:
		rest := slices.DeleteFunc(slices.Clone(before.PhotoFileIDs[min(1, len(before.PhotoFileIDs)):]), func(id uuid.UUID) bool { return id == *p.PhotoFileID })
		p.PhotoFileIDs = append([]uuid.UUID{*p.PhotoFileID}, rest...)
	}
	return faults.Err()
}

// entities of the references to files.
const (
	usedByProduct = "product"
	usedByVariant = "product_variant"
)

// photosOf are the files that a variant refers to.
func (v ProductVariant) photosOf() []uuid.UUID { return fileuse.One(v.PhotoFileID) }
