package advise

import (
	"regexp"
	"slices"
	"strings"
	"sync"

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

// quotedCommand matches a command of Pulumi in the text of an SDK or provider.
var quotedCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`pulumi ([a-z][^`\n]*)`") })

// Translated returns a message of an SDK or provider. If it suggests a command of Pulumi, sluice's follows.
func Translated(message string) string {
	var added []string
	for _, found := range quotedCommand().FindAllStringSubmatch(message, -1) {
		own := "`sluice " + found[1] + "`"
		if !strings.Contains(message, own) && !slices.Contains(added, own) {
			added = append(added, own)
		}
	}
	if len(added) == 0 {
		return message
	}
	text := strings.TrimRight(message, "\n")
	return text + "\nwith sluice: " + strings.Join(added, ", ") + message[len(text):]
}

// Event returns an event whose message has the words for its advice.
func Event(e stages.Event) stages.Event {
	if d, is := e.(stages.Diagnostic); is {
		d.Message, d.Advice = With(d.Message, d.Advice...), nil
		return d
	}
	return e
}
