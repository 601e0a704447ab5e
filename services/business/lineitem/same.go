package lineitem

import (
	"slices"

	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// KeepIDs gives lines that replace others the ids of those with the same content at the same place, so that nothing changes if a
// client sends the lines of a document again.
func KeepIDs[L any, P line[L]](before, after []L) []L {
	for i := range after {
		if i == len(before) {
			break
		}
		if was, now := P(&before[i]).common(), P(&after[i]).common(); was.sameContent(now) {
			now.ID = was.ID
		}
	}
	return after
}

// sameContent reports whether both lines sell the same. Their amounts and what they take from stock follow from that.
func (l *Line) sameContent(other *Line) bool {
	return l.Kind == other.Kind && record.Same(l.RefID, other.RefID) && record.Same(l.VariantID, other.VariantID) && l.Name == other.Name &&
		l.Qty == other.Qty && l.UnitPrice == other.UnitPrice && slices.Equal(l.Modifiers, other.Modifiers)
}

// Describe reports whether an input describes a line as it is. A name or price that was not sent is that of the line.
func (in Input) Describe(l *Line) bool {
	return in.Kind == l.Kind && record.Same(in.RefID, l.RefID) && record.Same(in.VariantID, l.VariantID) && (in.Name == nil || *in.Name == l.Name) &&
		orOne(in.Qty) == l.Qty && (in.UnitPrice == nil || *in.UnitPrice == l.UnitPrice) &&
		slices.EqualFunc(in.Modifiers, l.Modifiers, func(in ModifierInput, m Modifier) bool { return in.OptionID == m.OptionID && orOne(in.Qty) == m.Qty })
}
