package stages

import (
	"crypto/sha256"

	"github.com/google/uuid"
)

// DerivedID makes the UUID of an object that the engine itself names, such as a provider: the same for the same entropy
// and words.
func DerivedID(entropy []byte, words ...string) string {
	sum := Derive(entropy, append(words, "id")...)
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80 // version 4, variant RFC 4122
	return uuid.UUID(sum[:16]).String()
}

// Derive makes 32 bytes that depend only on the entropy and the given words.
func Derive(entropy []byte, words ...string) []byte {
	h := sha256.New()
	h.Write(entropy)
	for _, w := range words {
		h.Write([]byte{0})
		h.Write([]byte(w))
	}
	return h.Sum(nil)
}
