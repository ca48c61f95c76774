package property_test

import (
	"context"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/archive"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/asset"

	. "github.com/sluice-iac/sluice/property"
)

// The reference implementation's own library is the oracle of the tests below: both must agree on every generated
// value.

func peerMap(m Map) resource.PropertyMap {
	out := resource.PropertyMap{}
	for k, v := range m.All() {
		out[resource.PropertyKey(k)] = peerValue(v)
	}
	return out
}

func peerValue(v Value) resource.PropertyValue {
	switch {
	case v.IsBool():
		return resource.NewProperty(v.AsBool())
	case v.IsNumber():
		return resource.NewProperty(v.AsNumber())
	case v.IsString():
		return resource.NewProperty(v.AsString())
	case v.IsArray():
		var a []resource.PropertyValue
		for _, e := range v.AsArray().All() {
			a = append(a, peerValue(e))
		}
		return resource.NewProperty(a)
	case v.IsMap():
		return resource.NewProperty(peerMap(v.AsMap()))
	case v.IsUnknown():
		return resource.MakeComputed(resource.NewProperty(""))
	case v.IsSecret():
		return resource.MakeSecret(peerValue(v.AsSecret()))
	case v.IsOutput():
		o := v.AsOutput()
		p := resource.Output{Known: o.Known, Secret: o.Secret}
		if o.Known {
			p.Element = peerValue(o.Element)
		}
		for _, d := range o.Dependencies {
			p.Dependencies = append(p.Dependencies, resource.URN(d))
		}
		return resource.NewProperty(p)
	case v.IsReference():
		r := v.AsReference()
		p := resource.ResourceReference{URN: resource.URN(r.URN), PackageVersion: r.PackageVersion}
		if !r.ID.IsNull() {
			p.ID = peerValue(r.ID)
		}
		return resource.NewProperty(p)
	case v.IsAsset():
		return resource.NewProperty(peerAsset(v.AsAsset()))
	case v.IsArchive():
		return resource.NewProperty(peerArchive(v.AsArchive()))
	default:
		return resource.NewNullProperty()
	}
}

func peerAsset(a Asset) *asset.Asset {
	return &asset.Asset{Sig: asset.AssetSig, Hash: a.Hash, Text: a.Text, Path: a.Path, URI: a.URI}
}

func peerArchive(a Archive) *archive.Archive {
	p := &archive.Archive{Sig: archive.ArchiveSig, Hash: a.Hash, Path: a.Path, URI: a.URI}
	if a.Kind != KindMembers {
		return p
	}
	p.Assets = map[string]any{}
	for k, v := range a.Members.All() {
		if v.IsAsset() {
			p.Assets[k] = peerAsset(v.AsAsset())
			continue
		}
		p.Assets[k] = peerArchive(v.AsArchive())
	}
	return p
}

// render formats a value for failure messages.
func render(m Map) string {
	b, err := EncodeState(context.Background(), m, StateOptions{Secrets: SecretsPlaintext})
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(b)
}
