package install

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// sum parses a SHA-256 checksum.
func sum(text string) ([]byte, error) {
	b, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(b) != sha256.Size {
		return nil, fmt.Errorf("%q is not a SHA-256 checksum, which has %d hexadecimal digits", text, 2*sha256.Size)
	}
	return b, nil
}

// listed returns the checksum of a file in a list in the form of sha256sum; nil if the file is not in the list.
func listed(list []byte, name string) ([]byte, error) {
	for line := range strings.Lines(string(list)) {
		words := strings.Fields(line)
		if len(words) == 2 && strings.TrimPrefix(words[1], "*") == name {
			return sum(words[0])
		}
	}
	return nil, nil
}

// verify compares a file with the checksum that it must have; an empty one matches any file.
func verify(ctx context.Context, file io.Reader, want []byte, from string) error {
	if len(want) == 0 {
		return nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, &attentive{ctx, file}); err != nil {
		return err
	}
	if got := hash.Sum(nil); !bytes.Equal(got, want) {
		return &ChecksumError{Want: want, Got: got, From: from}
	}
	return nil
}
