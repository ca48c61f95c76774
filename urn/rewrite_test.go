package urn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/urn"
)

func TestChildOfRenamedParentGetsItsTypeDerivedAnew(t *testing.T) {
	child := URN("urn:pulumi:dev::p::old:Comp$a:b:C::kid")
	require.Equal(t, URN("urn:pulumi:dev::p::x:Outer$new:Comp$a:b:C::kid"),
		child.Under("urn:pulumi:dev::p::x:Outer$new:Comp::parent"))
	require.Equal(t, URN("urn:pulumi:dev::p::a:b:C::kid"), child.Under(""))
	require.Equal(t, URN("urn:pulumi:dev::p::a:b:C::kid"), child.Under(RootStack("dev", "p")))
	require.Equal(t, URN("nonsense"), URN("nonsense").Under(child))
}

func TestChildOfRootStackHasNoParentType(t *testing.T) {
	require.Equal(t, URN("urn:pulumi:dev::p::a:b:C::n"), RootStack("dev", "p").Child("a:b:C", "n"))
	require.Equal(t, URN("urn:pulumi:dev::p::x:Y$a:b:C::n"), URN("urn:pulumi:dev::p::x:Y::z").Child("a:b:C", "n"))
}

func TestRewritingPartsKeepsTheOthers(t *testing.T) {
	u := URN("urn:pulumi:dev::p::x:Y$a:b:C::n::m")
	require.Equal(t, URN("urn:pulumi:prod::p::x:Y$a:b:C::n::m"), u.WithStack("prod"))
	require.Equal(t, URN("urn:pulumi:dev::q::x:Y$a:b:C::n::m"), u.WithProject("q"))
	require.Equal(t, URN("urn:pulumi:dev::p::x:Y$a:b:C::k"), u.Renamed("k"))
	require.Equal(t, URN("bad"), URN("bad").Renamed("k"))
}
