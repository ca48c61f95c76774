package compression

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Format is how a file is written.
type Format uint8

// The formats.
const (
	Plain Format = iota
	Gzip
	Zstandard
)

// Formats returns all formats in the order of the names that they give a stack file.
func Formats() []Format { return []Format{Plain, Gzip, Zstandard} }

// Extension returns what a file of this format has at the end of its name.
func (f Format) Extension() string {
	switch f {
	case Gzip:
		return ".gz"
	case Zstandard:
		return ".zst"
	}
	return ""
}

// TrimExtension returns a file name without the extension of a format.
func TrimExtension(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, Gzip.Extension()), Zstandard.Extension())
}

// Pack compresses a content.
func (f Format) Pack(b []byte) ([]byte, error) {
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch f {
	case Gzip:
		w = gzip.NewWriter(&out)
	case Zstandard:
		w, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	default:
		return b, nil
	}
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// Unpack returns a content uncompressed, whatever its format is.
func Unpack(b []byte) ([]byte, error) {
	switch {
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b, 0x08}):
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		out, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return out, nil
	case bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(math.MaxUint32))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		defer d.Close()
		out, err := d.DecodeAll(b, nil)
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		return out, nil
	}
	return b, nil
}
