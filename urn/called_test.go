package urn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/urn"
)

func TestNamesThatPeopleGiveResources(t *testing.T) {
	const u = URN("urn:pulumi:dev::p::my:Comp$random:index/randomPet:RandomPet::pet")
	for _, text := range []string{
		string(u), "pet", "random:index/randomPet:RandomPet::pet", "random:index:RandomPet::pet", "random:RandomPet::pet", "RandomPet::pet",
		"random:index:RandomPet pet", "random:RandomPet (pet)", "my:Comp$random:index/randomPet:RandomPet::pet",
	} {
		require.True(t, u.IsCalled(text), text)
	}
	for _, text := range []string{
		"", "et", "::pet", " pet", "Pet::pet", "RandomPet", "random:RandomPet", "RandomPet::pet2", "Comp$random:index/randomPet:RandomPet::pet",
		"randompet::pet", "index:RandomPet::pet", "RandomPet (pet", "urn:pulumi:dev::p::random:index/randomPet:RandomPet::pet",
	} {
		require.False(t, u.IsCalled(text), text)
	}
	require.Equal(t, "aws:s3:Bucket", Type("aws:s3/bucket:Bucket").Short())
	require.Equal(t, "aws:s3/buckets:Bucket", Type("aws:s3/buckets:Bucket").Short())
	require.True(t, Type("aws:s3/bucket:Bucket").IsCalled("aws:s3:Bucket"))
	require.False(t, Type("aws:s3/bucket:Bucket").IsCalled("aws:Bucket"), "only the module index goes without saying")
	require.True(t, Type("my:Comp").IsCalled("my:Comp"))
}

func TestTheNarrowestMeaningOfANameCounts(t *testing.T) {
	const a, b = URN("urn:pulumi:dev::p::x:index:A::web"), URN("urn:pulumi:dev::p::x:index:B::web")
	const odd = URN("urn:pulumi:dev::p::x:index:C::A::web")
	list := []URN{a, a, b, odd}
	require.Equal(t, []URN{a}, Called(list, string(a)))
	require.Equal(t, []URN{a, b}, Called(list, "web"))
	require.Equal(t, []URN{b}, Called(list, "x:B::web"))
	require.Equal(t, []URN{odd}, Called(list, "A::web"), "a name goes before a type and a name")
	require.Empty(t, Called(list, "wep"))
}
