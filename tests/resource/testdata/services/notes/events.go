package notes

import "github.com/tradegrid/tradegrid/pkg/event"

var created = event.New[Note]("note.created", "A note was created.")
