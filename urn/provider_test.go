package urn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/urn"
)

func TestProviderReferenceSplitsAtTheLastSeparator(t *testing.T) {
	ref, err := ParseProviderRef("urn:pulumi:dev::p::pulumi:providers:aws::my::prov::6cf0")
	require.NoError(t, err)
	require.Equal(t, ProviderRef{URN: "urn:pulumi:dev::p::pulumi:providers:aws::my::prov", ID: "6cf0"}, ref)
	require.Equal(t, "aws", ref.Package())
	require.True(t, ref.IsKnown())
}

func TestEmptyProviderIDIsUnknown(t *testing.T) {
	ref, err := ParseProviderRef("urn:pulumi:dev::p::pulumi:providers:aws::prov::")
	require.NoError(t, err)
	require.Equal(t, UnknownID, ref.ID)
	require.False(t, ref.IsKnown())
	require.Equal(t, "urn:pulumi:dev::p::pulumi:providers:aws::prov::"+UnknownID, ref.String())
	require.Equal(t, ref.String(), ProviderRef{URN: ref.URN}.String())
	require.Empty(t, ProviderRef{}.String())
}

func TestBadProviderReferencesAreRefused(t *testing.T) {
	for name, s := range map[string]string{
		"empty":          "",
		"no separator":   "x",
		"not a URN":      "x::y",
		"not a provider": "urn:pulumi:dev::p::a:b:C::n::id",
		"URN without ID": "urn:pulumi:dev::p::pulumi:providers:aws::prov",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseProviderRef(s)
			require.ErrorIs(t, err, ErrInvalid)
		})
	}
}

func TestDeniedReferenceNamesItsPackage(t *testing.T) {
	ref := DeniedRef("aws")
	require.Equal(t, "urn:pulumi:denied::denied::pulumi:providers:denied::aws::denydefaultprovider", ref.String())
	parsed, err := ParseProviderRef(ref.String())
	require.NoError(t, err)
	pkg, denied := parsed.Denied()
	require.True(t, denied)
	require.Equal(t, "aws", pkg)

	_, denied = ProviderRef{URN: "urn:pulumi:dev::p::pulumi:providers:aws::prov", ID: "x"}.Denied()
	require.False(t, denied)
}
