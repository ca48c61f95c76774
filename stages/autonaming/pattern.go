package autonaming

import (
	"crypto/sha256"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/sluice-iac/sluice/advice"
)

// pattern is a template of a name. Only the parts that differ from resource to resource are left open.
type pattern string

const (
	digits      = "0123456789"
	letters     = "abcdefghijklmnopqrstuvwxyz"
	hexDigits   = digits + "abcdef"
	maxLength   = 1024 // of one random part; no provider takes longer names
	nameHole    = "${name}"
	configStart = "config."
)

var hole = regexp.MustCompile(`\$\{([^}]*)\}`)

var sized = regexp.MustCompile(`^(hex|alphanum|string|num)\((\d+)\)$`)

// parsePattern fills in the values that are the same for the whole stack, and refuses parts that nothing can fill in.
func parsePattern(text string, s Stack) (pattern, error) {
	var bad error
	out := hole.ReplaceAllStringFunc(text, func(match string) string {
		switch what := hole.FindStringSubmatch(match)[1]; {
		case what == "organization":
			return s.Organization
		case what == "project":
			return s.Project
		case what == "stack":
			return s.Stack
		case strings.HasPrefix(what, configStart):
			name := strings.TrimPrefix(what, configStart)
			v, ok := s.Config(name)
			if !ok && bad == nil {
				bad = advice.Errorf(advice.Advice{Action: advice.SetConfig, Key: name}, "pattern %q: no value found for key %q", text, name)
			}
			return v
		}
		return match
	})
	return pattern(out), bad
}

// expand makes a name. random reports whether it has a random part.
func (p pattern) expand(name string, seed []byte) (result string, random bool) {
	rng := rand.New(rand.NewChaCha8(sha256.Sum256(seed)))
	result = hole.ReplaceAllStringFunc(string(p), func(match string) string {
		what := hole.FindStringSubmatch(match)[1]
		if match == nameHole {
			return name
		}
		if what == "uuid" {
			random = true
			var b [16]byte
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			return uuid.UUID(b).String()
		}
		m := sized.FindStringSubmatch(what)
		if m == nil {
			return match
		}
		n, err := strconv.Atoi(m[2])
		if err != nil || n > maxLength {
			n = maxLength
		}
		random = random || n > 0
		return draw(rng, m[1], n)
	})
	return result, random
}

func draw(rng *rand.Rand, what string, n int) string {
	alphabet := map[string]string{"hex": hexDigits, "alphanum": letters + digits, "string": letters, "num": digits}[what]
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(b)
}
