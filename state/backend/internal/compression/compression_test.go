package compression

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// declaring is a frame without content that declares a length of n bytes.
func declaring(n uint32) []byte {
	return []byte{0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x58, byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), 0x01, 0x00, 0x00}
}

func TestADeclaredLengthAllocatesNothing(t *testing.T) {
	text := declaring(4<<30 - 1)
	fuzzing.Bound(t, len(text), 32<<20/len(text), func() {
		_, err := Unpack(text)
		require.ErrorContains(t, err, "zstd: ")
	})
}

func TestContentsThatUnpackToTooMuchAreRefused(t *testing.T) {
	content := make([]byte, 3<<20)
	for _, f := range []Format{Gzip, Zstandard} {
		packed, err := f.Pack(content)
		require.NoError(t, err)
		require.Less(t, len(packed), 1<<16)
		got, err := unpack(packed, 3<<20)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, got))
		_, err = unpack(packed, 3<<20-1)
		require.ErrorContains(t, err, "unpacks to more than 2 MiB")
	}
}

// Other programs write the length into the frame, and frames without a window.
func TestFramesOfOtherEncodersAreRead(t *testing.T) {
	for _, size := range []int{0, 100, 1 << 20, 20 << 20} {
		content := bytes.Repeat([]byte("state "), size/6)
		w, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true), zstd.WithWindowSize(64<<20))
		require.NoError(t, err)
		packed := w.EncodeAll(content, nil)
		got, err := Unpack(append(packed, w.EncodeAll([]byte("!"), nil)...))
		require.NoError(t, err)
		require.Equal(t, string(content)+"!", string(got))
	}
}

// FuzzUnpack unpacks any bytes. The result must be the same after packing and unpacking again.
func FuzzUnpack(f *testing.F) {
	for _, format := range Formats() {
		packed, err := format.Pack([]byte(`{"version":3,"checkpoint":{"stack":"organization/shop/dev"}}`))
		require.NoError(f, err)
		f.Add(packed)
		f.Add(packed[:len(packed)-3])
	}
	f.Add(declaring(1 << 20))
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 8 << 20
		content, err := unpack(data, limit)
		if err != nil {
			require.Regexp(t, "^(gzip|zstd): ", err.Error())
			return
		}
		require.LessOrEqual(t, len(content), max(limit, len(data)))
		for _, format := range []Format{Gzip, Zstandard} {
			packed, err := format.Pack(content)
			require.NoError(t, err)
			again, err := Unpack(packed)
			require.NoError(t, err)
			require.True(t, bytes.Equal(content, again))
		}
	})
}
