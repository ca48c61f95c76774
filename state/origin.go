package state

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Digest names the content of a checkpoint: its SHA-256 in hex.
func Digest(checkpoint []byte) string {
	sum := sha256.Sum256(checkpoint)
	return hex.EncodeToString(sum[:])
}

// origin is what a snapshot was read from, and what was in it.
type origin struct {
	digest    string
	resources []*Resource
	pending   []Pending
}

// ReadFrom returns the [Digest] of the checkpoint that s was read from, or that what it is an edit of was read from: copies of a
// snapshot keep it, and so does what the edits of this package return. It is "" for a snapshot that was made.
func (s *Snapshot) ReadFrom() string {
	if s == nil || s.origin == nil {
		return ""
	}
	return s.origin.digest
}

// Origin is ReadFrom for a snapshot whose entries are still the ones that were read, and "" for any other.
func (s *Snapshot) Origin() string {
	if s == nil || s.origin == nil || !slices.Equal(s.Resources, s.origin.resources) || !slices.Equal(s.Pending, s.origin.pending) {
		return ""
	}
	return s.origin.digest
}
