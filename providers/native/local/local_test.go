package local_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/local"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
	"github.com/sluice-iac/sluice/urn"
)

func props(pairs ...any) property.Map { return nativetest.Props(pairs...) }

func stack(t *testing.T, typ urn.Type) (*nativetest.Stack, string) {
	o := native.Options{Directory: t.TempDir()}
	return nativetest.New(t, local.Package(o), typ, o), o.Directory
}

func TestThePublicPackageIsMatched(t *testing.T) {
	tier.Slow(t, "npm packages")
	modules := "../../../source/nodejs/testdata/program"
	require.NoError(t, nodesdk.Install(modules))
	nativetest.RequireDeclared(t, local.Package(native.Options{}), modules, "@pulumi/local")
}

func TestFileIsWrittenFoundMissedAndDeleted(t *testing.T) {
	s, dir := stack(t, "local:index/file:File")
	in := props("filename", "a/b/c.txt", "content", "abc", "filePermission", "0640")
	out := s.Create(in)
	path := filepath.Join(dir, "a/b/c.txt")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "abc", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, "-rw-r-----", info.Mode().String())
	require.Equal(t, "a9993e364706816aba3e25717850c26c9cd0d89d", s.ID) // of FIPS 180
	require.Equal(t, "900150983cd24fb0d6963f7d28e17f72", out.At("contentMd5").AsString())
	require.Equal(t, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", out.At("contentBase64sha256").AsString())
	s.RequireSame(in)
	s.RequireUnchanged()
	s.RequireReplace(in.With("content", property.String("x")), "content")
	require.True(t, s.Diff(in.With("content", property.String("x"))).DeleteBeforeReplace, "or the new file would be deleted")
	require.True(t, s.Diff(in.With("filename", property.String("a/./b/c.txt"))).DeleteBeforeReplace)
	require.False(t, s.Diff(in.With("filename", property.String("d.txt"))).DeleteBeforeReplace)
	require.True(t, s.Diff(in).DeleteBeforeReplace, "it may be replaced although nothing differs")
	require.NoError(t, os.WriteFile(path, []byte("other"), 0o644))
	require.False(t, s.Refresh())
	require.NoError(t, s.Delete())
	require.False(t, s.Refresh())
	require.NoError(t, s.Delete())
	require.ErrorContains(t, s.TryImport(s.ID), "cannot be imported")
	require.True(t, s.Preview(in).At("contentSha1").IsUnknown())
	require.NoFileExists(t, path)
}

func TestContentMayComeFromElsewhere(t *testing.T) {
	s, dir := stack(t, "local:index/file:File")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "from"), []byte("abc"), 0o600))
	for _, in := range []property.Map{
		props("filename", "x", "contentBase64", "YWJj"), props("filename", "x", "source", "from"),
		props("filename", "x", "sensitiveContent", "abc"),
	} {
		s.Create(in)
		require.Equal(t, "a9993e364706816aba3e25717850c26c9cd0d89d", s.ID)
	}
	require.True(t, s.Outputs.At("sensitiveContent").IsSecret())
	require.NotEmpty(t, s.Refused(props("filename", "x")))
	require.NotEmpty(t, s.Refused(props("filename", "x", "content", "a", "source", "b")))
	require.NotEmpty(t, s.Refused(props("filename", "x", "content", "a", "filePermission", "rwx")))
	require.ErrorContains(t, s.TryCreate(props("filename", "x", "contentBase64", "!")), "contentBase64")
}

func TestSensitiveFileIsSecretAndPrivate(t *testing.T) {
	s, dir := stack(t, "local:index/sensitiveFile:SensitiveFile")
	out := s.Create(props("filename", "key", "content", "abc"))
	require.True(t, out.At("content").IsSecret() && s.Inputs.At("content").IsSecret())
	info, err := os.Stat(filepath.Join(dir, "key"))
	require.NoError(t, err)
	require.Equal(t, "-rwx------", info.Mode().String())
	got, err := s.Invoke("local:index/getSensitiveFile:getSensitiveFile", props("filename", "key"))
	require.NoError(t, err)
	require.True(t, got.At("content").IsSecret())
	got, err = s.Invoke("local:index/getFile:getFile", props("filename", "key"))
	require.NoError(t, err)
	require.Equal(t, "abc", got.At("content").AsString())
	require.Equal(t, s.ID, got.At("id").AsString())
	_, err = s.Invoke("local:index/getFile:getFile", props("filename", "nothing"))
	require.Error(t, err)
}
