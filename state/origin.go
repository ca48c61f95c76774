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

// origin is the checkpoint that a snapshot was read from, and its entries.
type origin struct {
	digest    string
	resources []*Resource
	pending   []Pending
}

// ReadFrom returns the [Digest] of the checkpoint that s was read from. Copies of a snapshot keep it, and so do the results of
// this package's edits. It is "" for a snapshot that was not read.
func (s *Snapshot) ReadFrom() string {
	if s == nil || s.origin == nil {
		return ""
	}
	return s.origin.digest
}

// Origin is ReadFrom for a snapshot with exactly the entries that were read, and "" for any other.
func (s *Snapshot) Origin() string {
	if s == nil || s.origin == nil || !slices.Equal(s.Resources, s.origin.resources) || !slices.Equal(s.Pending, s.origin.pending) {
		return ""
	}
	return s.origin.digest
}
