package display

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
)

// Limits on what is kept of the messages of one resource until they are shown, in bytes. The event log has all of them.
const (
	maxMessage  = 64 << 10 // of one message
	maxMessages = 1 << 20  // of those that are neither errors nor warnings: what programs and plugins print
	perMessage  = 256      // what a message takes besides its text
)

// messages are those of one resource. Of what programs and plugins print only the end is kept.
type messages struct {
	whole   bool // keep everything
	list    []message
	size    int // of what may be left out, in bytes
	omitted int // how many messages were left out
	lost    int // their bytes
}

// message is a message of which the text may be only the beginning.
type message struct {
	stages.Diagnostic
	size  int  // of the whole text
	ended bool // the text has ended with a newline
}

func (m *message) mayBeLeftOut() bool {
	return m.Severity != stages.Error && m.Severity != stages.Warning
}

func (m *messages) add(d stages.Diagnostic) {
	i := m.unfinished(d.StreamID)
	text := d.Message
	if i < 0 {
		d.Message = ""
		m.list = append(m.list, message{Diagnostic: d})
		i = len(m.list) - 1
		m.count(&m.list[i], perMessage)
	}
	last := &m.list[i]
	last.size += len(text)
	last.ended = strings.HasSuffix(text, "\n") || text == "" && last.ended
	if room := maxMessage - len(last.Message); len(text) > room && !m.whole {
		text = strings.Clone(text[:max(room, 0)]) // the rest is not kept in memory
	}
	last.Message += text
	m.count(last, len(text))
	m.trim()
}

// unfinished returns the index of the line that a stream has begun and not ended, or -1 if there is none. Messages of
// other streams may have come in between (protocol.md 9.3).
func (m *messages) unfinished(stream int32) int {
	if stream == 0 {
		return -1
	}
	for i := len(m.list) - 1; i >= 0; i-- {
		if m.list[i].StreamID == stream {
			if m.list[i].ended {
				return -1
			}
			return i
		}
	}
	return -1
}

func (m *messages) count(of *message, n int) {
	if of.mayBeLeftOut() {
		m.size += n
	}
}

// trim leaves out the oldest messages when there are too many, and so many of them that this is not done for each message.
func (m *messages) trim() {
	if m.whole || m.size <= maxMessages {
		return
	}
	m.list = slices.DeleteFunc(m.list, func(x message) bool {
		if m.size <= maxMessages/2 || !x.mayBeLeftOut() {
			return false
		}
		m.size -= len(x.Message) + perMessage
		m.omitted++
		m.lost += x.size
		return true
	})
}

// note says what was left out, "" if nothing was.
func (m *messages) note() string {
	if m.omitted == 0 {
		return ""
	}
	return fmt.Sprintf("... (%s with %s left out; --show-full-output shows them)", plural(m.omitted, "earlier message", "earlier messages"), byteSize(m.lost))
}
