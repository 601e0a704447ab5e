package migrate

import (
	"fmt"
	"strings"
)

// split splits a migration into statements. It removes comments and collapses white space outside quotes,
// so that neither affects the checksum. Each statement must end with a semicolon. batches has the numbers of the statements,
// from 0, that have the comment "-- batches" on a line of its own before them.
func split(src string) (statements []string, batches map[int]bool, err error) {
	s := splitter{src: src, line: 1, batches: map[int]bool{}}
	for s.pos < len(s.src) {
		if err := s.next(); err != nil {
			return nil, nil, err
		}
	}
	if rest := strings.TrimSpace(s.out.String()); rest != "" {
		return nil, nil, fmt.Errorf("line %d: the last statement must end with a semicolon: %s", s.line, head(rest))
	}
	return s.statements, s.batches, nil
}

type splitter struct {
	src        string
	pos, line  int
	out        strings.Builder
	statements []string
	batches    map[int]bool
}

// next consumes one quoted string, one comment or one character.
func (s *splitter) next() error {
	rest := s.src[s.pos:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "--"):
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		if strings.TrimSpace(rest[:end]) == "-- batches" {
			s.batches[len(s.statements)] = true
		}
		s.skip(end)
		s.space()
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest, "*/")
		if end < 0 {
			return fmt.Errorf("line %d: unterminated comment", s.line)
		}
		s.skip(end + 2)
		s.space()
	case strings.HasPrefix(rest, "$$"):
		return fmt.Errorf("line %d: dollar quotes are not allowed in migrations: function bodies do not run on both databases", s.line)
	case c == '\'' || c == '"':
		return s.quoted(c)
	case c == ';':
		s.skip(1)
		s.end()
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		s.skip(1)
		s.space()
	default:
		s.out.WriteByte(c)
		s.skip(1)
	}
	return nil
}

// quoted copies a literal or a quoted identifier. It treats a doubled quote as the end of one and the start of another,
// which has the same result.
func (s *splitter) quoted(q byte) error {
	rest := s.src[s.pos:]
	escapes := q == '\'' && s.afterE()
	for i := 1; i < len(rest); i++ {
		switch {
		case escapes && rest[i] == '\\':
			i++
		case rest[i] == q:
			s.out.WriteString(rest[:i+1])
			s.skip(i + 1)
			return nil
		}
	}
	return fmt.Errorf("line %d: unterminated quote %c", s.line, q)
}

// afterE reports whether the quote follows a lone E, which enables backslash escapes.
func (s *splitter) afterE() bool {
	before := s.out.String()
	if before == "" || (before[len(before)-1] != 'E' && before[len(before)-1] != 'e') {
		return false
	}
	return len(before) == 1 || strings.ContainsRune(" (,=|", rune(before[len(before)-2]))
}

func (s *splitter) skip(n int) {
	s.line += strings.Count(s.src[s.pos:s.pos+n], "\n")
	s.pos += n
}

func (s *splitter) space() {
	if out := s.out.String(); out != "" && out[len(out)-1] != ' ' {
		s.out.WriteByte(' ')
	}
}

func (s *splitter) end() {
	if stmt := strings.TrimSpace(s.out.String()); stmt != "" {
		s.statements = append(s.statements, stmt)
	}
	s.out.Reset()
}

// head returns the beginning of a statement, for messages.
func head(stmt string) string {
	const limit = 80
	if r := []rune(stmt); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return stmt
}
