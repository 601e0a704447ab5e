package record_test

import (
	"encoding/json"
	"fmt"

	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// The fields of a record that clients write. A record embeds them beside [record.Key] and [record.Meta].
type noteFields struct {
	Title string  `json:"title" required:"true" maxLength:"100" search:"text"`
	Text  *string `json:"text" maxLength:"4000"`
	Stars int32   `json:"stars"`
}

// A PATCH changes the fields that it has, and null clears one. What differs afterwards is announced as changedFields.
func ExamplePatch() {
	text := "soon"
	note := noteFields{Title: "Tyres", Text: &text, Stars: 3}

	var in record.Patch[noteFields]
	if err := json.Unmarshal([]byte(`{"text":null,"stars":3}`), &in); err != nil {
		fmt.Println(err)
		return
	}
	before := record.PlanOf[noteFields]().Snapshot(&note)
	in.Apply(&note)
	_, names := before.Changes(&note)

	fmt.Println("sent:", in.Names())
	fmt.Println("changed:", names)
	fmt.Println(note.Title, note.Text == nil, note.Stars)
	// Output:
	// sent: [text stars]
	// changed: [text]
	// Tyres true 3
}
