package backend

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compression is how files are written. Reading looks at the content, never at the name (state.md 4.5).
type compression uint8

const (
	plain compression = iota
	gzipped
	zstandard
)

// extensions in the order of the names that they give a stack file.
func compressions() []compression { return []compression{plain, gzipped, zstandard} }

func (c compression) extension() string {
	switch c {
	case gzipped:
		return ".gz"
	case zstandard:
		return ".zst"
	}
	return ""
}

func (c compression) pack(b []byte) ([]byte, error) {
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch c {
	case gzipped:
		w = gzip.NewWriter(&out)
	case zstandard:
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

func unpack(b []byte) ([]byte, error) {
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
