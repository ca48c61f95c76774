package null_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/providers/native/null"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

func TestThePublicPackageIsMatched(t *testing.T) {
	tier.Slow(t, "npm packages")
	modules := "../../../source/nodejs/testdata/program"
	require.NoError(t, nodesdk.Install(modules))
	nativetest.RequireDeclared(t, null.Package(native.Options{}), modules, "@pulumi/null")
}

func TestResourceIsItsTriggers(t *testing.T) {
	s := nativetest.New(t, null.Package(native.Options{}), "null:index/resource:Resource", native.Options{})
	in := nativetest.Props("triggers", nativetest.Props("a", "b"))
	s.Create(in)
	require.Regexp(t, `^\d+$`, s.ID)
	s.RequireSame(in)
	s.RequireUnchanged()
	s.RequireReplace(nativetest.Props(), "triggers")
	require.NoError(t, s.Delete())
	s.Import("5")
	s.RequireSame(nativetest.Props())
}

func TestFunctionGivesBackWhatItGets(t *testing.T) {
	s := nativetest.New(t, null.Package(native.Options{}), "null:index/resource:Resource", native.Options{})
	inputs := property.Of(nativetest.Props("a", "b"))
	out, err := s.Invoke("null:index/getDataSource:getDataSource", nativetest.Props("inputs", inputs))
	require.NoError(t, err)
	require.True(t, property.Equal(inputs, out.At("outputs")))
	require.Equal(t, "default", out.At("hasComputedDefault").AsString())
	require.NotEmpty(t, out.At("random").AsString())
}
