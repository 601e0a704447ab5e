package spreadsheet

import (
	"bytes"
	"context"
	"io"
)

const (
	// maxTag is how many bytes a tag of a workbook may have, from < to >, and maxAttributes how many attributes: the XML decoder holds
	// all of them before it returns the tag, at fifteen times the size of the shortest.
	maxTag        = 64 << 10
	maxAttributes = 500
	// perByte is how many bytes of a file a byte of a text may take, as in &quot;.
	perByte = 6
)

// limitedXML reads a part of a workbook for the XML decoder, which makes each tag, text and comment a whole. It ends with ctx, and fails
// before one of them is too large, or at a document type, which workbooks never have.
type limitedXML struct {
	ctx  context.Context //nolint:containedctx // an io.Reader gets none
	r    io.Reader
	text int // bytes that a text or a comment may have

	in         func(*limitedXML, byte) error
	size       int     // of the tag, text or comment so far
	last       [3]byte // of it
	attributes int
	quote      byte // that ends the value of an attribute
}

func newLimitedXML(ctx context.Context, r io.Reader, limits Limits) *limitedXML {
	return &limitedXML{ctx: ctx, r: r, text: perByte * limits.Cell, in: (*limitedXML).inText}
}

// Read implements [io.Reader].
func (x *limitedXML) Read(p []byte) (int, error) {
	if err := x.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := x.r.Read(p)
	for _, c := range p[:n] {
		x.size++
		if err := x.in(x, c); err != nil {
			return 0, err
		}
	}
	return n, err
}

// begin goes on with another kind of token.
func (x *limitedXML) begin(in func(*limitedXML, byte) error) error {
	x.in, x.size, x.attributes, x.last = in, 0, 0, [3]byte{}
	return nil
}

func (x *limitedXML) inText(c byte) error {
	if c == '<' {
		return x.begin((*limitedXML).inOpening)
	}
	return x.bounded(x.text, "a text")
}

func (x *limitedXML) bounded(limit int, what string) error {
	if x.size > limit {
		return wrongFile("has %s of more than %d KiB in its XML; save it anew", what, limit>>10)
	}
	return nil
}

// inOpening looks at what follows a <.
func (x *limitedXML) inOpening(c byte) error {
	switch c {
	case '?':
		return x.begin(until("?>"))
	case '!':
		return x.begin((*limitedXML).inDeclaration)
	}
	x.in = (*limitedXML).inTag
	return x.inTag(c)
}

// inDeclaration looks at what follows a <!.
func (x *limitedXML) inDeclaration(c byte) error {
	switch c {
	case '-':
		return x.begin((*limitedXML).inComment)
	case '[':
		return x.begin(until("]]>"))
	}
	return wrongFile("has a document type; save it anew as an Excel workbook (.xlsx)")
}

// inComment looks at the second dash of <!--, which is no part of the end of the comment.
func (x *limitedXML) inComment(c byte) error {
	if c != '-' {
		return wrongFile("is damaged: a comment does not begin with <!--; save it anew")
	}
	return x.begin(until("-->"))
}

func (x *limitedXML) inTag(c byte) error {
	switch c {
	case '>':
		return x.begin((*limitedXML).inText)
	case '"', '\'':
		if x.attributes++; x.attributes > maxAttributes {
			return wrongFile("has a tag with more than %d attributes; save it anew", maxAttributes)
		}
		x.quote, x.in = c, (*limitedXML).inValue
	}
	return x.bounded(maxTag, "a tag")
}

func (x *limitedXML) inValue(c byte) error {
	if c == x.quote {
		x.in = (*limitedXML).inTag
	}
	return x.bounded(maxTag, "a tag")
}

// until is in a comment or the like, up to its end.
func until(end string) func(*limitedXML, byte) error {
	return func(x *limitedXML, c byte) error {
		x.last[0], x.last[1], x.last[2] = x.last[1], x.last[2], c
		if bytes.HasSuffix(x.last[:], []byte(end)) {
			return x.begin((*limitedXML).inText)
		}
		return x.bounded(x.text, "a comment")
	}
}
