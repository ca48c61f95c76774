package redact

import (
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// MaxMessage limits one message or error from outside, in bytes. Nobody reads more of it.
const MaxMessage = 1 << 20

const (
	noteBegins = " ... (cut after "
	maxNote    = 64      // bytes of a note
	noteRoom   = 1 << 10 // the maximum distance of the note from the end of a text that was cut
)

var note = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` \.\.\. \(cut after \d+ of (\d+) bytes\)`) })

// Cut returns a text from outside, or, if it has more than n bytes, its beginning with a note of the full length. Code that takes in a text
// that may be long, and does not have the secrets, must use Cut: from the note [Set.Mask] recognises that a secret may have lost its second
// half there. A newline at the end stays. A text that Cut has cut already, and to which others have added little, stays as it is.
func Cut(text string, n int) string {
	if len(text) <= n || len(text) <= n+n/8+maxNote && note().MatchString(text) {
		return text
	}
	kept, end := Beginning(text, n), ""
	if strings.HasSuffix(text, "\n") {
		end = "\n"
	}
	return kept + CutNote(len(kept), len(text)) + end
}

// Beginning returns the first n bytes of a text, or a few less so that no character is cut in two. It does not share memory with
// a longer text. A [CutNote] must follow before others see it.
func Beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	kept := text[:n]
	for range utf8.UTFMax - 1 {
		if r, size := utf8.DecodeLastRuneInString(kept); r != utf8.RuneError || size != 1 {
			break
		}
		kept = kept[:len(kept)-1]
	}
	return strings.Clone(kept)
}

// CutNote is the note after the first kept bytes of a text of size bytes.
func CutNote(kept, size int) string { return fmt.Sprintf("%s%d of %d bytes)", noteBegins, kept, size) }

// Whole returns the length of a text before [Cut] cut it, in bytes; for a text that was not cut that is its length.
func Whole(text string) int {
	if found := note().FindStringSubmatch(text[max(0, len(text)-noteRoom):]); found != nil {
		if size, err := strconv.Atoi(found[1]); err == nil {
			return max(size, len(text))
		}
	}
	return len(text)
}

// notes yields the offsets of the notes in a text.
func notes(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			at := strings.Index(text[from:], noteBegins)
			if at < 0 || !yield(from+at) {
				return
			}
			from += at + len(noteBegins)
		}
	}
}
