package property_test

import (
	"fmt"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/property"
)

// typical looks like the inputs of one cloud resource: some twenty properties, a few nested.
func typical() Map {
	m := map[string]Value{
		"tags":   Of(object("team", String("platform"), "env", String("prod"), "cost-center", String("1234"))),
		"secret": Secret(String("hunter2")),
		"rules": ArrayOf(
			Of(object("port", Number(443), "cidr", String("10.0.0.0/8"), "enabled", Bool(true))),
			Of(object("port", Number(80), "cidr", String("10.0.0.0/8"), "enabled", Bool(false))),
		),
		"arn": Computed(), "__defaults": ArrayOf(String("name")),
	}
	for i := range 12 {
		m[fmt.Sprintf("property%d", i)] = String("some value of ordinary length")
	}
	return NewMap(m)
}

func BenchmarkMarshalStruct(b *testing.B) {
	m := typical()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := PackStruct(m, keepAll); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarshalStructOfTheReferenceImplementation(b *testing.B) {
	m := peerMap(typical())
	o := plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plugin.MarshalProperties(m, o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnmarshalStruct(b *testing.B) {
	s, err := PackStruct(typical(), keepAll)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := UnmarshalStruct(s, keepAll); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnmarshalStructOfTheReferenceImplementation(b *testing.B) {
	s, err := MarshalStruct(typical(), keepAll)
	require.NoError(b, err)
	o := plugin.MarshalOptions{KeepUnknowns: true, KeepSecrets: true, KeepResources: true}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plugin.UnmarshalProperties(s, o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendState(b *testing.B) {
	m := typical()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = AppendState(b.Context(), buf[:0], m, StateOptions{Encrypter: echo{}, Crypter: "k"}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDecodeState(b *testing.B) {
	text, err := EncodeState(b.Context(), typical(), StateOptions{Encrypter: echo{}})
	require.NoError(b, err)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeState(b.Context(), text, StateDecodeOptions{Decrypter: echo{}, Crypter: "k"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDiffOfEqualObjects(b *testing.B) {
	m, n := typical(), typical()
	b.ReportAllocs()
	for b.Loop() {
		if Diff(m.StripSecretsAndOutputs(), n.StripSecretsAndOutputs(), nil) != nil {
			b.Fatal("they are equal")
		}
	}
}
