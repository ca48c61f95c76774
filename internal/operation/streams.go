package operation

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
)

// streams masks messages that are pieces of one text: those of one stream, until one ends with a newline (protocol.md 9.3). A secret
// may extend over two of them. Displays join the pieces again, so nothing may be left out between them.
type streams struct {
	unfinished []*unfinished // those with held text, the oldest first
}

// unfinished is a text without its end.
type unfinished struct {
	last stages.Diagnostic // the latest message
	text *redact.Stream
}

// maxUnfinished is the maximal number of texts with held parts. Only an attacker reaches it; the rest of the oldest text is then
// masked.
const maxUnfinished = 64

// next returns the messages to show after a piece has arrived: the piece, without a part that may be the beginning of a secret, which
// is held for the next one. There may be none.
func (s *streams) next(d stages.Diagnostic, secrets *redact.Set) []stages.Diagnostic {
	at := s.index(d)
	u := &unfinished{text: secrets.Stream()}
	if at >= 0 {
		u = s.unfinished[at]
	}
	ended := strings.HasSuffix(d.Message, "\n")
	message := u.text.Next(d.Message)
	if ended {
		message += u.text.End()
	}
	u.last = d
	u.last.Message = ""
	var out []stages.Diagnostic
	switch atRest := u.text.IsAtRest(); {
	case atRest && at >= 0:
		s.unfinished = slices.Delete(s.unfinished, at, at+1)
	case !atRest && at < 0:
		if len(s.unfinished) == maxUnfinished {
			out = s.unfinished[0].saying(s.unfinished[0].text.Abandon())
			s.unfinished = slices.Delete(s.unfinished, 0, 1)
		}
		s.unfinished = append(s.unfinished, u)
	}
	return append(out, u.saying(message)...)
}

// isPiece reports whether a message is an incomplete text: other messages of its stream continue it, or it continues one with a held
// part.
func (s *streams) isPiece(d stages.Diagnostic) bool {
	return d.StreamID != 0 && (!strings.HasSuffix(d.Message, "\n") || s.index(d) >= 0)
}

func (s *streams) index(d stages.Diagnostic) int {
	return slices.IndexFunc(s.unfinished, func(u *unfinished) bool { return u.last.StreamID == d.StreamID && u.last.URN == d.URN })
}

// end returns the held parts of all texts, when they are over.
func (s *streams) end() (out []stages.Diagnostic) {
	for _, u := range s.unfinished {
		out = append(out, u.saying(u.text.End())...)
	}
	s.unfinished = nil
	return out
}

// saying returns the message with a text, none if the text is empty.
func (u *unfinished) saying(text string) []stages.Diagnostic {
	if text == "" {
		return nil
	}
	d := u.last
	d.Message = text
	return []stages.Diagnostic{d}
}
