package urn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/urn"
)

func TestExpandAliases(t *testing.T) {
	const web, app = URN("urn:pulumi:dev::p::my:Comp::web"), URN("urn:pulumi:dev::p::my:Comp::app")
	matched := map[URN]URN{web: app}
	subject := Subject{Stack: "dev", Project: "p", Type: "a:b:C", Name: "web-logs", Parent: web}
	tests := map[string]struct {
		subject Subject
		aliases []Alias
		matched map[URN]URN
		want    []URN
	}{
		"nothing to expand": {subject: subject},
		"matched alias of the parent is inherited with its name": {
			subject: subject, matched: matched, want: []URN{"urn:pulumi:dev::p::my:Comp$a:b:C::app-logs"},
		},
		"name without the parent's name stays": {
			subject: Subject{Stack: "dev", Project: "p", Type: "a:b:C", Name: "logs", Parent: web}, matched: matched,
			want: []URN{"urn:pulumi:dev::p::my:Comp$a:b:C::logs"},
		},
		"explicit alias first, then the inherited forms": {
			subject: subject, matched: matched, aliases: []Alias{{Name: "web-old"}},
			want: []URN{
				"urn:pulumi:dev::p::my:Comp$a:b:C::web-old",
				"urn:pulumi:dev::p::my:Comp$a:b:C::app-logs",
				"urn:pulumi:dev::p::my:Comp$a:b:C::app-old",
			},
		},
		"whole URN": {
			subject: subject, aliases: []Alias{{URN: "urn:pulumi:x::y::t:t:T::n"}},
			want: []URN{"urn:pulumi:x::y::t:t:T::n"},
		},
		"type, stack and project": {
			subject: subject, aliases: []Alias{{Type: "a:b:Old", Stack: "prod", Project: "q"}},
			want: []URN{"urn:pulumi:prod::q::my:Comp$a:b:Old::web-logs"},
		},
		"no parent": {
			subject: subject, aliases: []Alias{{NoParent: true}}, want: []URN{"urn:pulumi:dev::p::a:b:C::web-logs"},
		},
		"parent is the root stack": {
			subject: subject, aliases: []Alias{{Parent: RootStack("dev", "p")}},
			want: []URN{"urn:pulumi:dev::p::a:b:C::web-logs"},
		},
		"parent of the alias was itself renamed": {
			subject: Subject{Stack: "dev", Project: "p", Type: "a:b:C", Name: "n"}, aliases: []Alias{{Parent: web}},
			matched: map[URN]URN{web: "urn:pulumi:dev::p::old:Comp::app"},
			want:    []URN{"urn:pulumi:dev::p::old:Comp$a:b:C::n"},
		},
		"repetitions are dropped, the first stays": {
			subject: subject, matched: matched, aliases: []Alias{{Name: "app-logs"}, {Name: "x"}, {Name: "app-logs"}},
			want: []URN{"urn:pulumi:dev::p::my:Comp$a:b:C::app-logs", "urn:pulumi:dev::p::my:Comp$a:b:C::x"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ExpandAliases(tt.subject, tt.aliases, func(u URN) (URN, bool) {
				old, ok := tt.matched[u]
				return old, ok
			})
			require.Equal(t, tt.want, got)
		})
	}
}

func TestAliasesOfAGrandchildComeFromTheParentsOwnMatch(t *testing.T) {
	outer := Subject{Stack: "dev", Project: "p", Type: "o:Outer", Name: "new"}
	inner := Subject{Stack: "dev", Project: "p", Type: "i:Inner", Name: "new-in", Parent: outer.URN()}
	leaf := Subject{Stack: "dev", Project: "p", Type: "l:m:Leaf", Name: "new-in-leaf", Parent: inner.URN()}
	matches := map[URN]URN{}
	lookup := func(u URN) (URN, bool) { m, ok := matches[u]; return m, ok }

	matches[outer.URN()] = ExpandAliases(outer, []Alias{{Name: "old"}}, lookup)[0]
	matches[inner.URN()] = ExpandAliases(inner, nil, lookup)[0]
	require.Equal(t, []URN{"urn:pulumi:dev::p::o:Outer$i:Inner$l:m:Leaf::old-in-leaf"}, ExpandAliases(leaf, nil, lookup))
}

func TestNoLookupMeansNothingMatched(t *testing.T) {
	s := Subject{Stack: "dev", Project: "p", Type: "a:b:C", Name: "n", Parent: "urn:pulumi:dev::p::x:Y::z"}
	require.Equal(t, []URN{"urn:pulumi:dev::p::x:Y$a:b:C::m"}, ExpandAliases(s, []Alias{{Name: "m"}}, nil))
}
