package property_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	. "github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// requireLocated fails unless an error of a value is one of the two that have a path.
func requireLocated(t *testing.T, err error) {
	t.Helper()
	var value *ValueError
	var limit *LimitError
	require.True(t, errors.As(err, &value) || errors.As(err, &limit), "%T: %v", err, err)
}

// FuzzWireValues reads any bytes as the properties of a message. The result must be the same after it is encoded and
// decoded again, with all options kept and in the plain form.
func FuzzWireValues(f *testing.F) {
	seed := func(m Map) {
		s, err := MarshalStruct(m, keepAll)
		require.NoError(f, err)
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(s)
		require.NoError(f, err)
		f.Add(b)
	}
	seed(Map{})
	seed(object("a", ArrayOf(Number(1), Bool(true), Null, String("x")), "b", Of(object("c", String("\xff")))))
	seed(object("s", Secret(String("x")), "u", Computed(), "o", OutputOf(Output{Known: true, Element: Secret(Null)}), "p", OutputOf(Output{})))
	seed(object("t", TextAsset("x"), "m", MemberArchive(object("f", PathAsset("p"), "g", URIArchive("u")))))
	seed(object("r", Of(Reference{URN: "urn:pulumi:d::p::a:b:C::n", ID: String("i"), PackageVersion: "1.2.3"})))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s structpb.Struct
		if proto.Unmarshal(data, &s) != nil {
			return
		}
		for _, o := range []WireOptions{keepAll, {}, {Unknowns: DropUnknowns, KeepSecrets: true, Outputs: UpgradeOutputs}} {
			var m Map
			var err error
			fuzzing.Bound(t, len(data), 400, func() { m, err = UnmarshalStruct(&s, o) })
			if err != nil {
				requireLocated(t, err)
				continue
			}
			if o.Outputs == UpgradeOutputs {
				o.Outputs = KeepOutputs // upgraded outputs are sent as outputs
			}
			sent, err := MarshalStruct(m, o)
			if err != nil {
				requireLocated(t, err)
				continue
			}
			again, err := UnmarshalStruct(sent, o)
			require.NoError(t, err)
			if o.Unknowns != DropUnknowns { // otherwise, values that are null because they were unknown may be left out
				requireIdentical(t, m, again)
			}
		}
	})
}

// packed makes an archive of a format from names and contents.
func packed(f testing.TB, format string, pairs ...string) []byte {
	var out bytes.Buffer
	if format == "zip" {
		z := zip.NewWriter(&out)
		for i := 0; i < len(pairs); i += 2 {
			w, err := z.Create(pairs[i])
			require.NoError(f, err)
			_, err = io.WriteString(w, pairs[i+1])
			require.NoError(f, err)
		}
		require.NoError(f, z.Close())
		return out.Bytes()
	}
	w := io.WriteCloser(temporary{&out})
	if format == "tgz" {
		w = gzip.NewWriter(&out)
	}
	a := tar.NewWriter(w)
	for i := 0; i < len(pairs); i += 2 {
		require.NoError(f, a.WriteHeader(&tar.Header{Name: pairs[i], Size: int64(len(pairs[i+1])), Mode: 0o600}))
		_, err := io.WriteString(a, pairs[i+1])
		require.NoError(f, err)
	}
	require.NoError(f, errors.Join(a.Close(), w.Close()))
	return out.Bytes()
}

type temporary struct{ io.Writer }

func (temporary) Close() error { return nil }

var archiveFormats = []string{"tar", "tgz", "zip"}

// FuzzArchives reads any bytes as an archive. The hash must be that of a tar file with the archive's files, and the names
// passed to callers must be paths below it.
func FuzzArchives(f *testing.F) {
	for i, format := range archiveFormats {
		for _, pairs := range [][]string{
			{}, {"a", "1", "dir/b", "22"}, {"../up", "1"}, {"/abs", "1"}, {"twice", "1", "twice", "2"}, {"dir/../../x", ""}, {`..\x`, "1"}, {"a", "1", "a/b", "2"},
		} {
			whole := packed(f, format, pairs...)
			f.Add(byte(i), whole)
			f.Add(byte(i), whole[:len(whole)*3/4])
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, format byte, data []byte) {
		name := "a." + archiveFormats[int(format)%len(archiveFormats)]
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
		r := AssetReader{Dir: dir, MaxUnpacked: 1 << 20}
		inner := PathArchive(name)
		var hashed Map
		var err error
		fuzzing.Bound(t, len(data), 2000, func() { hashed, err = r.Hash(t.Context(), object("x", MemberArchive(object("in", inner)))) })
		if err != nil {
			require.ErrorContains(t, err, `"x"`)
			require.ErrorContains(t, err, "archive member 'in")
		}

		sum := sha256.New()
		rewritten := tar.NewWriter(sum)
		seen := map[string]bool{}
		readErr := r.Members(context.Background(), inner.AsArchive(), func(name string, content io.Reader) error {
			require.False(t, filepath.IsAbs(name))
			require.True(t, filepath.IsLocal(name), name)
			if seen[name] {
				return nil
			}
			seen[name] = true
			text, err := io.ReadAll(content)
			if err != nil {
				return err
			}
			if err := rewritten.WriteHeader(&tar.Header{Name: "in/" + name, Mode: 0o600, Size: int64(len(text))}); err != nil {
				return err
			}
			_, err = rewritten.Write(text)
			return err
		})
		if err != nil || readErr != nil {
			return // a name that leads out has a hash all the same
		}
		require.NoError(t, rewritten.Close())
		require.Equal(t, hex.EncodeToString(sum.Sum(nil)), hashed.At("x").AsArchive().Hash)
	})
}
