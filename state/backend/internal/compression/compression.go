package compression

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Format is a compression of files.
type Format uint8

// The formats.
const (
	Plain Format = iota
	Gzip
	Zstandard
)

// Formats returns all formats in the order of the names that they give a stack file.
func Formats() []Format { return []Format{Plain, Gzip, Zstandard} }

// Extension returns the end of the name of a file in this format.
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

// Limits of unpacked contents.
const (
	// maxUnpacked is the maximum size of a content: many times the state of the largest stacks. A file that claims to be
	// larger would fill the memory of the machine.
	maxUnpacked = 4 << 30
	// maxWindow is the maximum distance of a back reference in a frame; the decoder has to keep that much. Encoders use 8
	// MiB; 128 MiB is the most that the zstd program uses.
	maxWindow = 128 << 20
)

// Unpack returns a content uncompressed, in whatever format it is. It does not rely on a declared length: it allocates
// in proportion to the result.
func Unpack(b []byte) ([]byte, error) { return unpack(b, maxUnpacked) }

func unpack(b []byte, limit int64) ([]byte, error) {
	switch {
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b, 0x08}):
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return readAll("gzip", r, limit)
	case bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		defer r.Close()
		return readAll("zstd", r, limit)
	}
	return b, nil
}

func readAll(format string, r io.Reader, limit int64) ([]byte, error) {
	out, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", format, err)
	}
	if int64(len(out)) > limit {
		return nil, fmt.Errorf("%s: the content unpacks to more than %d MiB", format, limit>>20)
	}
	return out, nil
}
