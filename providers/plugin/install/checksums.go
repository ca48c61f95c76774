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

// expected returns the checksum that an archive must have, and its origin: the request, or else the source. It is nil if
// neither has one. A list that exists and cannot be read is an error.
func (i *Installer) expected(ctx context.Context, r Request, a asset) (want []byte, from string, err error) {
	if given := r.Checksums[platform()]; len(given) > 0 {
		return given, "", nil
	}
	if a.sum != nil {
		return a.sum, a.from, nil
	}
	for _, c := range a.lists {
		list, err := i.web.document(ctx, c)
		if isAbsent(err) {
			continue
		}
		if err != nil {
			return nil, "", fmt.Errorf("its checksums at %s cannot be read: %w", shown(c.url), err)
		}
		if want, err := listed(list, r.archive()); want != nil || err != nil {
			return want, shown(c.url), err
		}
	}
	return nil, "", nil
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
