package simulate

// Choices is the source of a generator's decisions. A [rand.Rand] is one. Zero is the simplest choice.
type Choices interface {
	// IntN returns a number from 0 to n-1.
	IntN(n int) int
}

// Bytes makes choices from bytes, and the simplest choices when the bytes run out.
type Bytes []byte

// IntN takes the next byte.
func (b *Bytes) IntN(n int) int {
	if len(*b) == 0 {
		return 0
	}
	v := int((*b)[0])
	*b = (*b)[1:]
	return v % n
}

// draw makes a generator's decisions.
type draw struct{ choices Choices }

// IntN returns a number from 0 to n-1.
func (d draw) IntN(n int) int { return d.choices.IntN(n) }

// chance returns true once in n times.
func (d draw) chance(n int) bool { return d.IntN(n) == n-1 }

func (d draw) pick(from ...string) string { return from[d.IntN(len(from))] }
