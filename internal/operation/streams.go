package operation

import (
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
)

// streams masks messages that are pieces of one text: those of one stream, until one ends with a newline (protocol.md 9.3). A secret
// may lie across two of them. Displays put them together again, and nothing is left out where they are cut.
type streams struct {
	unfinished []*unfinished // those that hold something back, the oldest first
}

// unfinished is a text that goes on.
type unfinished struct {
	last stages.Diagnostic // its latest message
	text *redact.Stream
}

// maxUnfinished is how many texts may hold something back. It is only reached by who wants to: of the oldest one, the rest is masked.
const maxUnfinished = 64

// next returns what can be shown when a piece has come: the piece, without what may be the beginning of a secret, which comes with the
// next one. It may be nothing.
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

// isPiece reports whether a message is less than a text: others of its stream go on with it, or it goes on with one that holds
// something back.
func (s *streams) isPiece(d stages.Diagnostic) bool {
	return d.StreamID != 0 && (!strings.HasSuffix(d.Message, "\n") || s.index(d) >= 0)
}

func (s *streams) index(d stages.Diagnostic) int {
	return slices.IndexFunc(s.unfinished, func(u *unfinished) bool { return u.last.StreamID == d.StreamID && u.last.URN == d.URN })
}

// end returns what is held back of all texts: they are over.
func (s *streams) end() (out []stages.Diagnostic) {
	for _, u := range s.unfinished {
		out = append(out, u.saying(u.text.End())...)
	}
	s.unfinished = nil
	return out
}

// saying returns the message of a piece, none if there is no text to it.
func (u *unfinished) saying(text string) []stages.Diagnostic {
	if text == "" {
		return nil
	}
	d := u.last
	d.Message = text
	return []stages.Diagnostic{d}
}
