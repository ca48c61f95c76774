package urn_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/urn"
)

func TestPatternMatchesWholeURN(t *testing.T) {
	const u = URN("urn:pulumi:dev::p::my:Comp$a:b/c:D::web-1")
	tests := map[string]bool{
		string(u):                            true,
		"**":                                 true,
		"**web-1":                            true,
		"urn:pulumi:*::p::**":                true,
		"urn:pulumi:dev::p::*:*:*:*::web-*":  true,
		"urn:pulumi:dev::p::*::web-1":        false, // a single star stops at a colon
		"urn:pulumi:dev::p::**::web-1":       true,
		"*web-1":                             true, // a glob for names
		"web-*":                              true,
		"web*-":                              false,
		"*":                                  true,
		"*:web-1":                            false,
		"**web":                              false,
		"urn:pulumi:dev::p::my.Comp**":       false, // a dot is a dot
		"urn:pulumi:dev::p::my:Comp$a:**::*": true,
		"web-1":                              true, // a name
		"b/c:D::web-1":                       false,
		"***":                                true,
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			p, err := Compile(text)
			require.NoError(t, err)
			require.Equal(t, want, p.Match(u))
			require.Equal(t, text, p.String())
			require.Equal(t, IsGlob(text), p.IsGlob())
		})
	}
}

func TestStarsCrossLineBreaks(t *testing.T) {
	p, err := Compile("**")
	require.NoError(t, err)
	require.True(t, p.Match("urn:pulumi:a::b::c::d\ne"))
}

func TestEmptyPatternIsRefused(t *testing.T) {
	_, err := Compile("")
	require.ErrorIs(t, err, ErrInvalid)
	_, err = CompileSet("urn:pulumi:a::b::c::d", "")
	require.ErrorIs(t, err, ErrInvalid)
	_, err = Compile("\xff")
	require.ErrorIs(t, err, ErrInvalid)
	_, err = Compile("*\xff")
	require.ErrorIs(t, err, ErrInvalid)
}

func TestEmptySetIsUnconstrained(t *testing.T) {
	for name, s := range map[string]*PatternSet{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			require.False(t, s.IsConstrained())
			require.True(t, s.Contains("urn:pulumi:a::b::c::d"))
			require.False(t, s.Matches("urn:pulumi:a::b::c::d"))
			c := s.Clone()
			c.Add("urn:pulumi:a::b::c::d")
			require.False(t, c.IsConstrained(), "adding to an unconstrained set must not constrain it")
		})
	}
}

func TestSetGrowsByLiterals(t *testing.T) {
	s, err := CompileSet("urn:pulumi:a::b::c::z", "**::glob-*")
	require.NoError(t, err)
	c := s.Clone()
	c.Add("urn:pulumi:a::b::c::d")
	require.True(t, c.Contains("urn:pulumi:a::b::c::d"))
	require.False(t, s.Contains("urn:pulumi:a::b::c::d"))
	require.True(t, c.Contains("urn:pulumi:a::b::c::glob-1"))
	require.Equal(t, []URN{"urn:pulumi:a::b::c::d", "urn:pulumi:a::b::c::z"}, slices.Collect(c.Literals()))
}

func TestNamesAreBoundToWhatIsThere(t *testing.T) {
	const a, b = URN("urn:pulumi:dev::p::x:index:A::web"), URN("urn:pulumi:dev::p::x:index:B::web")
	const other = URN("urn:pulumi:dev::p::x:index:C::db")
	s, err := CompileSet("db", "new", "B::web")
	require.NoError(t, err)
	require.Equal(t, []string{"db", "new", "B::web"}, slices.Collect(s.Names()))
	bound, _, choices := s.Bind([]URN{a, b, other, other})
	require.Empty(t, choices)
	require.Equal(t, []URN{b, other}, slices.Collect(bound.Literals()))
	require.Equal(t, []string{"new"}, slices.Collect(bound.Names()))
	require.True(t, bound.Matches("urn:pulumi:dev::p::x:index:C::new"))
	require.False(t, bound.Matches("urn:pulumi:dev::p::x:index:D::db"), "the name is that of the other one")

	s, err = CompileSet("web")
	require.NoError(t, err)
	require.True(t, s.IsConstrained())
	_, name, choices := s.Bind([]URN{a, b})
	require.Equal(t, "web", name)
	require.Equal(t, []URN{a, b}, choices)
	none, _, choices := (*PatternSet)(nil).Bind([]URN{a})
	require.Nil(t, none)
	require.Empty(t, choices)
}
