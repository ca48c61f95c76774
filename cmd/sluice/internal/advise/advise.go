package advise

import (
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
)

// Text returns the text of an error with the words for its advice.
func Text(err error) string { return With(err.Error(), advice.Of(err)...) }

// With returns a message with the words for advice.
func With(message string, as ...advice.Advice) string {
	if len(as) == 0 {
		return message
	}
	text := strings.TrimRight(message, "\n")
	end := message[len(text):]
	for _, a := range as {
		if say := words[a.Action]; say != nil {
			text += say(a)
		}
	}
	return text + end
}

// Event returns an event whose message has the words for its advice.
func Event(e stages.Event) stages.Event {
	if d, is := e.(stages.Diagnostic); is {
		d.Message, d.Advice = With(d.Message, d.Advice...), nil
		return d
	}
	return e
}
