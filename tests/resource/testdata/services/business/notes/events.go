package notes

import "github.com/tradegrid/tradegrid/pkg/events/event"

var created = event.New[Note]("note.created", "A note was created.").By(`POST /notes {"title":"Trigger $run"}`)
