package urn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/urn"
)

func TestPartsOfURN(t *testing.T) {
	tests := map[string]struct {
		urn                    URN
		stack, project         string
		qualified, typ         Type
		name                   string
		invalid                bool
		pkg, providerPackage   string
		isProvider, isStackURN bool
	}{
		"child of component": {
			urn: "urn:pulumi:dev::p::my:Comp$aws:s3/bucket:Bucket::logs", stack: "dev", project: "p",
			qualified: "my:Comp$aws:s3/bucket:Bucket", typ: "aws:s3/bucket:Bucket", name: "logs", pkg: "aws",
		},
		"name with separators": {
			urn: "urn:pulumi:dev::p::a:b:C::x::y $ü/z", stack: "dev", project: "p", qualified: "a:b:C", typ: "a:b:C",
			name: "x::y $ü/z", pkg: "a",
		},
		"dollar in name is no type separator": {
			urn: "urn:pulumi:dev::p::a:b:C::x$d:e:F", stack: "dev", project: "p", qualified: "a:b:C", typ: "a:b:C",
			name: "x$d:e:F", pkg: "a",
		},
		"provider": {
			urn: "urn:pulumi:dev::p::pulumi:providers:aws::default", stack: "dev", project: "p",
			qualified: "pulumi:providers:aws", typ: "pulumi:providers:aws", name: "default", pkg: "pulumi",
			providerPackage: "aws", isProvider: true,
		},
		"root stack": {
			urn: "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev", stack: "dev", project: "p",
			qualified: RootStackType, typ: RootStackType, name: "p-dev", pkg: "pulumi", isStackURN: true,
		},
		"empty":        {urn: "", invalid: true},
		"other scheme": {urn: "arn:aws:s3:::bucket::a::b::c", invalid: true},
		"too short":    {urn: "urn:pulumi:dev::p::t", invalid: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(string(tt.urn))
			if tt.invalid {
				require.ErrorIs(t, err, ErrInvalid)
				require.False(t, tt.urn.IsValid())
				require.Empty(t, tt.urn.Name())
				return
			}
			require.NoError(t, err)
			require.True(t, tt.urn.IsValid())
			require.Equal(t, tt.stack, tt.urn.Stack())
			require.Equal(t, tt.project, tt.urn.Project())
			require.Equal(t, tt.qualified, tt.urn.QualifiedType())
			require.Equal(t, tt.typ, tt.urn.Type())
			require.Equal(t, tt.name, tt.urn.Name())
			require.Equal(t, tt.pkg, tt.urn.Type().Package())
			require.Equal(t, tt.isProvider, tt.urn.Type().IsProvider())
			require.Equal(t, tt.providerPackage, tt.urn.Type().ProviderPackage())
			require.Equal(t, tt.isStackURN, tt.urn.IsRootStack())
		})
	}
}

func TestTypeTokenNeedsThreeParts(t *testing.T) {
	require.True(t, Type("aws:s3/bucket:Bucket").IsToken())
	require.True(t, Type("aws::Bucket").IsToken())
	require.False(t, Type("aws:Bucket").IsToken())
	require.False(t, Type("a:b:c:d").IsToken())
	require.False(t, Type(":m:T").IsToken())
}

func FuzzURNParts(f *testing.F) {
	f.Add("dev", "proj", "my:Comp", "a:b:C", "name")
	f.Add("dev", "proj", "", "a:b:C", "a::b$c")
	f.Add("dev", "proj", "pulumi:pulumi:Stack", "a:b:C", "ü \u2028")
	f.Fuzz(func(t *testing.T, stack, project, parent, typ, name string) {
		for _, s := range []string{stack, project, parent, typ} {
			if strings.Contains(s, "::") || strings.HasPrefix(s, ":") || strings.HasSuffix(s, ":") {
				t.Skip("separators inside these parts cannot be told from those between them")
			}
		}
		u := New(stack, project, Type(parent), Type(typ), name)
		again, err := Parse(string(u))
		require.NoError(t, err)
		require.Equal(t, u, again)
		require.Equal(t, stack, u.Stack())
		require.Equal(t, project, u.Project())
		require.Equal(t, name, u.Name())
		if strings.HasPrefix(name, ":") {
			return
		}
		require.True(t, strings.HasSuffix(string(u.QualifiedType()), typ))
		require.Equal(t, u, u.Renamed("other").Renamed(name))
		require.Equal(t, u, u.WithStack("other").WithStack(stack))
		require.Equal(t, u, u.WithProject("other").WithProject(project))

		ref := ProviderRef{URN: u.Renamed(name), ID: "id"}
		if u.Type().IsProvider() {
			parsed, err := ParseProviderRef(ref.String())
			require.NoError(t, err)
			require.Equal(t, ref, parsed)
		}
	})
}

// FuzzParse reads any text as a URN, a provider reference and a pattern. A valid URN equals the URN built from its
// parts.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "urn:pulumi:dev::proj::a:b:C::name", "urn:pulumi:dev::proj::x:y:Z$a:b:C::a::b", "urn:pulumi:::::::", "urn:pulumi:*::**::a",
		"urn:pulumi:dev::proj::pulumi:providers:aws::default::04da6b54-80e4-46f7-96ec-b56ff0331ba9", "urn:pulumi:dev::p::$::n", "URN:pulumi:a::b::c::d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := Parse(s)
		require.Equal(t, err == nil, URN(s).IsValid())
		if err != nil {
			require.ErrorIs(t, err, ErrInvalid)
			require.Equal(t, []string{"", "", "", ""}, []string{URN(s).Stack(), URN(s).Project(), string(URN(s).QualifiedType()), URN(s).Name()})
		} else {
			require.Equal(t, s, string(u))
			require.Equal(t, s, string(New(u.Stack(), u.Project(), "", u.QualifiedType(), u.Name())))
			require.True(t, strings.HasSuffix(string(u.QualifiedType()), string(u.Type())))
		}
		if ref, err := ParseProviderRef(s); err == nil {
			require.True(t, strings.HasPrefix(ref.String(), s), "an empty ID is written as the unknown one")
			require.True(t, ref.URN.IsValid())
		}
		if p, err := Compile(s); err == nil {
			require.Equal(t, s, p.String())
			if !p.IsGlob() {
				require.True(t, p.Match(URN(s)))
			}
			_ = p.Match("urn:pulumi:dev::proj::a:b:C::name")
		}
	})
}
