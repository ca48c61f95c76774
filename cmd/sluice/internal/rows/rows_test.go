package rows

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func resource(parent *state.Resource, typ urn.Type, name string) *state.Resource {
	r := &state.Resource{Type: typ, URN: urn.New("dev", "shop", "", typ, name)}
	if parent != nil {
		r.Parent = parent.URN
	}
	return r
}

func text(rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.Lead + r.URN.Name() + "\n")
		if r.ID != "" {
			b.WriteString(r.Below + r.ID + "\n")
		}
	}
	return b.String()
}

func TestRowsAreATreeInAnyOrderOfTheState(t *testing.T) {
	root := resource(nil, urn.RootStackType, "shop-dev")
	site := resource(root, "acme:web:Site", "site")
	bucket := resource(site, "aws:s3:Bucket", "bucket10")
	bucket.ID = "b-10"
	old := bucket.Clone()
	old.Delete, old.ID = true, "b-9"
	resources := []*state.Resource{
		root, site, bucket, old, resource(bucket, "aws:s3:Object", "object"), resource(site, "aws:s3:Bucket", "bucket9"),
		resource(root, "pulumi:providers:aws", "default"), resource(nil, "a:b:C", "alone"),
		{Type: "a:b:C", URN: urn.New("dev", "shop", "", "a:b:C", "orphan"), Parent: "urn:pulumi:dev::shop::a:b:C::gone"},
	}
	want := `shop-dev
├─ site
│  ├─ bucket9
│  ├─ bucket10
│  │  │  b-10
│  │  └─ object
│  └─ bucket10
│        b-9
└─ default
alone
orphan
`
	require.Equal(t, want, text(Of(resources)))
	for range 10 {
		rand.Shuffle(len(resources), func(i, j int) { resources[i], resources[j] = resources[j], resources[i] })
		require.Equal(t, want, text(Of(resources)))
	}
}

func TestEachResourceHasOneRowInADamagedState(t *testing.T) {
	a := resource(nil, "a:b:C", "a")
	b := resource(a, "a:b:C", "b")
	a.Parent = b.URN
	self := resource(nil, "a:b:C", "self")
	self.Parent = self.URN
	resources := []*state.Resource{a, b, self}
	rows := Of(resources)
	require.Len(t, rows, 3)
	for _, r := range resources {
		require.True(t, slices.ContainsFunc(rows, func(row Row) bool { return row.Resource == r }))
	}
}
