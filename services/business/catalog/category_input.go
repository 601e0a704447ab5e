package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// maxTreeSent is how many categories a request may have; see docs/reference/limits.md#request-size.
const maxTreeSent = 1000

// CategoryNodeInput is a category to create or change, with those below it. Fields that are not sent stay unchanged.
type CategoryNodeInput struct {
	CategoryCard
	Children []CategoryNodeInput `json:"children" maxItems:"1000"`

	card record.Patch[CategoryCard]
}

// UnmarshalJSON implements [json.Unmarshaler]. It notes which fields were sent.
func (n *CategoryNodeInput) UnmarshalJSON(b []byte) error {
	var below struct {
		Children []CategoryNodeInput `json:"children"`
	}
	if err := n.card.UnmarshalJSON(b); err != nil {
		return err
	}
	if err := json.Unmarshal(b, &below); err != nil {
		return err
	}
	n.CategoryCard, n.Children = n.card.Value, below.Children
	return nil
}

// TransformSchema implements [huma.SchemaTransformer]: as in a change, nothing is required, and there are no defaults.
func (CategoryNodeInput) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = nil
	for _, p := range s.Properties {
		p.Default = nil
	}
	s.Properties["metadata"].Nullable = true
	s.PrecomputeMessages()
	return s
}

// TreeInput is a tree of categories to create or change.
type TreeInput struct {
	ParentID   *uuid.UUID          `json:"parentId" format:"uuid" doc:"category that those of the first level are put below; null = they are roots"`
	Categories []CategoryNodeInput `json:"categories" required:"true" minItems:"1" maxItems:"1000" doc:"at most 1 000 with all that are below them"`
}

// TreeChange is what a request for a tree has made.
type TreeChange struct {
	Created    int            `json:"created"`
	Updated    int            `json:"updated"`
	Unchanged  int            `json:"unchanged"`
	Categories []CategoryNode `json:"categories" doc:"the categories of the request, in its order and with their ids"`
}

// check reports faults of the tree itself: too many nodes, and nodes that name the same category.
func (in TreeInput) check() error {
	var faults apierr.Fields
	count, external := 0, map[[2]string]bool{}
	var walk func(path string, level int, nodes []CategoryNodeInput)
	walk = func(path string, level int, nodes []CategoryNodeInput) {
		names := map[string]bool{}
		for i, n := range nodes {
			at := fmt.Sprintf("%s[%d]", path, i)
			count++
			switch key, named := n.key(); {
			case named && external[key]:
				faults.Add(at+".externalId", apierr.Conflict, "is a duplicate; name each category once")
			case named:
				external[key] = true
			case n.Name == "":
				faults.Add(at+".name", apierr.Required, "is required, unless externalId names a category that exists")
			case names[n.Name]:
				faults.Add(at+".name", apierr.Conflict, "is a duplicate among the categories of one parent; send externalId with both")
			default:
				names[n.Name] = true
			}
			if level == maxCategoryDepth && len(n.Children) > 0 {
				faults.Add(at+".children", apierr.Max, "categories can be nested at most %d levels deep", maxCategoryDepth)
				continue
			}
			walk(at+".children", level+1, n.Children)
		}
	}
	walk("categories", 1, in.Categories)
	if count > maxTreeSent {
		faults.Add("categories", apierr.Max, "has %d categories with those below them, which exceeds %d; send several requests", count, maxTreeSent)
	}
	return faults.Err()
}

// key is the external id that names the category of a node, if one does.
func (n CategoryNodeInput) key() (key [2]string, named bool) {
	if n.ExternalID == nil {
		return key, false
	}
	if n.Source != nil {
		key[0] = *n.Source
	}
	key[1] = *n.ExternalID
	return key, true
}
