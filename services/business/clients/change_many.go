package clients

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// BatchChange is what an item of a batch does to a client: it adds tags, removes tags, archives or restores it, or several of these.
// Other tags of the client stay, whoever has set them in the meantime.
type BatchChange struct {
	ClientID   uuid.UUID `json:"clientId" required:"true" format:"uuid"`
	AddTags    []string  `json:"addTags,omitempty" maxItems:"50" minLength:"1" maxLength:"64" doc:"tags that it does not have yet come last"`
	RemoveTags []string  `json:"removeTags,omitempty" maxItems:"50" minLength:"1" maxLength:"64" doc:"tags that it does not have change nothing"`
	Status     string    `json:"status,omitempty" enum:"active,archived" doc:"archived archives the client, active restores it"`
}

// changeOne makes the change of an item.
func (s *Service) changeOne(ctx context.Context, tx *db.Tx, by access.Caller, in BatchChange) (c Client, err error) {
	if err := in.check(); err != nil {
		return c, err
	}
	if len(in.AddTags)+len(in.RemoveTags) > 0 {
		if c, err = s.changeTags(ctx, tx, by, in); err != nil {
			return c, err
		}
	}
	switch in.Status {
	case StatusActive:
		return s.Restore(ctx, tx, by, in.ClientID)
	case StatusArchived:
		return s.Archive(ctx, tx, by, in.ClientID)
	}
	return c, nil
}

func (in *BatchChange) check() error {
	if len(in.AddTags)+len(in.RemoveTags) == 0 && in.Status == "" {
		return apierr.InvalidField("addTags", apierr.Required, "is required, or removeTags or status: an item changes something")
	}
	for i, t := range in.RemoveTags {
		if slices.Contains(in.AddTags, t) {
			return apierr.InvalidField("removeTags["+strconv.Itoa(i)+"]", apierr.Conflict, "is in addTags as well; send it in one of them")
		}
	}
	return nil
}

// changeTags adds and removes tags, unless the client is anonymized or was merged.
func (s *Service) changeTags(ctx context.Context, tx *db.Tx, by access.Caller, in BatchChange) (Client, error) {
	return table.Change(ctx, tx, by, in.ClientID, func(before Client, c *Client) error {
		tags := slices.DeleteFunc(slices.Clone(before.Tags), func(t string) bool { return slices.Contains(in.RemoveTags, t) })
		for _, t := range in.AddTags {
			if !slices.Contains(tags, t) {
				tags = append(tags, t)
			}
		}
		if slices.Equal(tags, before.Tags) {
			return nil
		}
		if len(tags) > maxTags && len(tags) > len(before.Tags) {
			return apierr.InvalidField("addTags", apierr.Max, "would give the client %d tags; it can have %d", len(tags), maxTags)
		}
		if err := before.checkOpen(); err != nil {
			return err
		}
		c.Tags = tags
		return nil
	}, updated)
}
