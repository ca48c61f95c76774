package urn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/urn"
)

func TestNamesAreNoPaths(t *testing.T) {
	for name, is := range map[string]bool{
		"aws": true, "azure-native": true, "pulumi-nodejs": true, "my.package": true, "a..b": true, "_x": true, ".hidden": true,
		"github.com_org_repo": true, "0": true, "...": true,
		"": false, ".": false, "..": false, "a/b": false, "../x": false, `a\b`: false, "a\x00": false, "a\n": false, "a b": false,
		"a:b": false, "ä": false, "a$b": false, "~": false,
	} {
		require.Equal(t, is, IsName(name), "%q", name)
		require.Equal(t, is, CheckPackageName("package", name) == nil, "%q", name)
	}
	require.True(t, IsName("-x"), "Pulumi has stacks of such names")
	require.EqualError(t, CheckPackageName("runtime", "-x"),
		`"-x" cannot be the name of a runtime: write letters, digits, hyphens, underscores and periods, without a hyphen in front`)
	require.EqualError(t, CheckPluginName(""), `the name of a plugin is empty`)
	require.NoError(t, CheckPluginName("git.example.com:3000_~somebody_repo"))
	require.EqualError(t, CheckPluginName("git.example.com_../x"),
		`"git.example.com_../x" cannot be the name of a plugin: write letters, digits, hyphens, underscores and periods, without a hyphen in front`)
}

func TestTypesNameThePackageThatServesThem(t *testing.T) {
	for typ, is := range map[Type]bool{
		"aws:s3/bucket:Bucket": true, "pulumi:providers:aws": true, "pulumi:pulumi:Stack": true, "kubernetes:helm.sh/v3:Release": true,
		"pulumi-nodejs:dynamic/../x:Resource": true, // only the package is the name of a file
		"../x:index:Res":                      false, "pulumi:providers:../x": false, "pulumi:providers:": false, "pulumi:providers:a:b": false,
		":index:Res": false, "-x:index:Res": false,
	} {
		require.Equal(t, is, typ.CheckPackage() == nil, "%q", typ)
	}
}

func FuzzPluginNamesAreOneElementOfAPath(f *testing.F) {
	for _, s := range []string{"aws", "../x", `a\b`, "", "..", "a\x00b", "C:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if CheckPluginName(s) != nil {
			return
		}
		require.NotContains(t, []string{"", ".", ".."}, s)
		require.NotContains(t, s, "/")
		require.NotContains(t, s, `\`)
		require.NotContains(t, s, "\x00")
	})
}
