package state

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

const testRoot = urn.URN("urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev")

func boxURN(name string) urn.URN {
	return urn.New("dev", "shop", "", "testpkg:index:Box", name)
}

func box(name string, change ...func(*Resource)) *Resource {
	r := &Resource{
		URN: boxURN(name), Custom: true, ID: "id-" + name, Type: "testpkg:index:Box",
		Inputs: property.NewMap(map[string]property.Value{"size": property.Number(3)}),
	}
	for _, f := range change {
		f(r)
	}
	return r
}

func component(name string, parent urn.URN) *Resource {
	u := urn.New("dev", "shop", parent.QualifiedType(), "shop:index:Group", name)
	return &Resource{URN: u, Type: "shop:index:Group", Parent: parent}
}

func provider(name, id string) *Resource {
	typ := urn.ProviderType("testpkg")
	return &Resource{URN: urn.New("dev", "shop", "", typ, name), Custom: true, ID: id, Type: typ}
}

func dependsOn(names ...string) func(*Resource) {
	return func(r *Resource) {
		for _, n := range names {
			r.Dependencies = append(r.Dependencies, boxURN(n))
		}
	}
}

func old(r *Resource) { r.Delete = true }

func snapshotOf(rs ...*Resource) *Snapshot {
	return &Snapshot{Manifest: Manifest{Version: "t", Magic: Magic("t")}, Resources: rs}
}

func namesOf(rs []*Resource) []string {
	var names []string
	for _, r := range rs {
		n := r.URN.Name()
		if r.Delete {
			n += "(old)"
		}
		names = append(names, n)
	}
	return names
}
