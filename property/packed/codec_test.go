package packed_test

import (
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/packed"
)

func inputs(text string) property.Map {
	return property.NewMap(map[string]property.Value{"name": property.String(text), "token": property.Secret(property.Number(1))})
}

var keep = property.WireOptions{KeepSecrets: true}

func request(t *testing.T) *pulumirpc.CheckRequest {
	t.Helper()
	req := &pulumirpc.CheckRequest{Urn: "urn:pulumi:s::p::a:b:C::n", RandomSeed: []byte{1, 2}, Name: "n", Type: "a:b:C"}
	var err error
	req.Olds, err = property.PackStruct(inputs("old"), keep)
	require.NoError(t, err)
	req.News, err = property.PackStruct(inputs("new"), keep)
	require.NoError(t, err)
	return req
}

func TestMessagesArriveAsTheyWereSent(t *testing.T) {
	c := packed.NewCodec()
	sent := request(t)
	data, err := c.Marshal(sent)
	require.NoError(t, err)

	got := &pulumirpc.CheckRequest{Urn: "of a former message"}
	require.NoError(t, c.Unmarshal(data, got))
	require.Empty(t, got.GetNews().GetFields())
	require.True(t, proto.Equal(sent, got))

	usual := &pulumirpc.CheckRequest{}
	require.NoError(t, proto.Unmarshal(data.Materialize(), usual))
	require.Equal(t, usual.GetUrn(), got.GetUrn())
	for of, s := range map[string]*structpb.Struct{"old": got.GetOlds(), "new": got.GetNews()} {
		m, err := property.UnmarshalStruct(s, keep)
		require.NoError(t, err)
		require.True(t, property.EqualMaps(inputs(of), m), of)
	}
	again, err := proto.Marshal(got)
	require.NoError(t, err)
	var third pulumirpc.CheckRequest
	require.NoError(t, proto.Unmarshal(again, &third))
	require.True(t, proto.Equal(usual, &third), "a message that is passed on has its properties")
}

func TestAnEmptyObjectIsNotAMissingOne(t *testing.T) {
	c := packed.NewCodec()
	data, err := c.Marshal(&pulumirpc.CheckRequest{News: &structpb.Struct{}})
	require.NoError(t, err)
	got := &pulumirpc.CheckRequest{}
	require.NoError(t, c.Unmarshal(data, got))
	require.NotNil(t, got.GetNews())
	require.Nil(t, got.GetOlds())
}

// A field that comes twice is one: its contents are put together.
func TestContentsOfAFieldArePutTogether(t *testing.T) {
	one, err := proto.Marshal(&pulumirpc.CheckRequest{News: &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStringValue("x")}}})
	require.NoError(t, err)
	two, err := proto.Marshal(&pulumirpc.CheckRequest{Urn: "u", News: &structpb.Struct{Fields: map[string]*structpb.Value{"b": structpb.NewBoolValue(true)}}})
	require.NoError(t, err)
	got := &pulumirpc.CheckRequest{}
	require.NoError(t, packed.NewCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(one), mem.SliceBuffer(two)}, got))
	m, err := property.UnmarshalStruct(got.GetNews(), keep)
	require.NoError(t, err)
	require.Equal(t, 2, m.Len())
	require.Equal(t, "u", got.GetUrn())
}

func TestMessagesThatAreCutAreRefused(t *testing.T) {
	c := packed.NewCodec()
	data, err := c.Marshal(request(t))
	require.NoError(t, err)
	all := data.Materialize()
	refused := 0
	for n := range all {
		if c.Unmarshal(mem.BufferSlice{mem.SliceBuffer(all[:n])}, &pulumirpc.CheckRequest{}) != nil {
			refused++
		}
	}
	require.Greater(t, refused, len(all)/2, "only ends between fields are valid")
	wrong := protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 1) // the number of a field with properties
	require.NoError(t, c.Unmarshal(mem.BufferSlice{mem.SliceBuffer(wrong)}, &pulumirpc.CheckRequest{}), "an unknown field, as in the library")
}

func TestOtherMessagesAreReadAsUsual(t *testing.T) {
	c := packed.NewCodec()
	require.Equal(t, "proto", c.Name())
	data, err := c.Marshal(&pulumirpc.PluginInfo{Version: "1.2.3"})
	require.NoError(t, err)
	got := &pulumirpc.PluginInfo{}
	require.NoError(t, c.Unmarshal(data, got))
	require.Equal(t, "1.2.3", got.GetVersion())
	require.Error(t, c.Unmarshal(data, new(string)))
}
