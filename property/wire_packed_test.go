package property_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"pgregory.net/rapid"

	. "github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// packedAs returns a struct with the given encoding.
func packedAs(encoding []byte) *structpb.Struct {
	s := &structpb.Struct{}
	s.ProtoReflect().SetUnknown(encoding)
	return s
}

func TestAPackedStructHasTheFieldsOfAnUnpackedOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := genMap(everything()).Draw(t, "map")
		s, err := PackStruct(in, keepAll)
		require.NoError(t, err)
		require.Empty(t, s.GetFields())
		sent, err := proto.Marshal(s)
		require.NoError(t, err)
		tree, err := MarshalStruct(in, keepAll)
		require.NoError(t, err)
		var received structpb.Struct
		require.NoError(t, proto.Unmarshal(sent, &received))
		require.True(t, proto.Equal(tree, &received))
		out, err := UnmarshalStruct(s, keepAll)
		require.NoError(t, err)
		requireIdentical(t, in, out)
	})
}

// Whatever a library of protocol buffers reads is read in the same way from a packed struct: a field twice, a field that is unknown, a
// value that is missing, an encoding that ends too early.
func TestUnusualEncodingsAreReadAsTheLibraryReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := PackStruct(genMap(everything()).Draw(t, "map"), keepAll)
		require.NoError(t, err)
		data := []byte(s.ProtoReflect().GetUnknown())
		for range rapid.IntRange(0, 3).Draw(t, "edits") {
			at := rapid.IntRange(0, len(data)).Draw(t, "at")
			switch rapid.IntRange(0, 3).Draw(t, "edit") {
			case 0:
				data = append(data, data[:at]...)
			case 1:
				data = data[:at]
			case 2:
				if at < len(data) {
					data[at] = rapid.Byte().Draw(t, "byte")
				}
			case 3:
				data = protowire.AppendVarint(protowire.AppendTag(data, 9, protowire.VarintType), 1)
			}
		}
		var tree structpb.Struct
		if proto.Unmarshal(data, &tree) != nil {
			_, _ = UnmarshalStruct(packedAs(data), keepAll) // it may ignore what it does not need
			return
		}
		want, wantErr := UnmarshalStruct(&tree, keepAll)
		got, err := UnmarshalStruct(packedAs(data), keepAll)
		if wantErr != nil {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		requireIdentical(t, want, got)
	})
}

func TestUnusualEncodings(t *testing.T) {
	entry := func(parts ...[]byte) []byte {
		var all []byte
		for _, p := range parts {
			all = append(all, p...)
		}
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), all)
	}
	part := func(number protowire.Number, content string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), content)
	}
	text := func(s string) string { return string(part(3, s)) }
	secret := string(entry(part(1, SignatureKey), part(2, text("1b47061264138c4ac30d75fd1eb44270")))) // without a value
	unknown := text("04da6b54-80e4-46f7-96ec-b56ff0331ba9")
	tests := map[string]struct {
		encoding []byte
		want     Map
		err      string
	}{
		"an entry without a key":         {encoding: entry(part(2, text("x"))), want: object("", String("x"))},
		"an entry without a value":       {encoding: entry(part(1, "a")), want: object("a", Null)},
		"an entry with its value first":  {encoding: entry(part(2, text("x")), part(1, "a")), want: object("a", String("x"))},
		"a key twice":                    {encoding: append(entry(part(1, "a"), part(2, text("x"))), entry(part(1, "a"), part(2, text("y")))...), want: object("a", String("y"))},
		"a key twice, unknown at last":   {encoding: append(entry(part(1, "a"), part(2, text("x"))), entry(part(1, "a"), part(2, unknown))...), want: Map{}},
		"a key twice, invalid at first":  {encoding: append(entry(part(1, "a"), part(2, string(part(5, secret)))), entry(part(1, "a"), part(2, text("y")))...), want: object("a", String("y"))},
		"a value of two kinds":           {encoding: entry(part(1, "a"), part(2, "\x20\x01"+text("x"))), want: object("a", String("x"))},
		"a value in two parts":           {encoding: entry(part(1, "a"), part(2, "\x20\x01"), part(2, text("x"))), want: object("a", String("x"))},
		"an unknown field":               {encoding: append(part(7, "new"), entry(part(1, "a"), part(2, text("x")))...), want: object("a", String("x"))},
		"an unknown field in a value":    {encoding: entry(part(1, "a"), part(2, text("x")+"\x48\x01")), want: object("a", String("x"))},
		"nothing":                        {want: Map{}},
		"an end in the middle":           {encoding: []byte{0x0a, 0x05, 0x0a}, err: "cannot be read"},
		"a name that is not UTF-8":       {encoding: entry(part(1, "\xff"), part(2, text("x"))), err: "UTF-8"},
		"a text that is not UTF-8":       {encoding: entry(part(1, "a"), part(2, text("\xff"))), err: "UTF-8"},
		"a number of the wrong length":   {encoding: entry(part(1, "a"), part(2, "\x11\x00")), err: "cannot be read"},
		"a list with an unknown element": {encoding: entry(part(1, "a"), part(2, string(part(6, string(part(1, text("x")))+string(part(4, "?")))))), want: object("a", ArrayOf(String("x")))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := UnmarshalStruct(packedAs(test.encoding), WireOptions{Name: "inputs", Unknowns: DropUnknowns})
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				require.ErrorContains(t, err, "inputs")
				return
			}
			require.NoError(t, err)
			requireIdentical(t, test.want, got)
		})
	}
}

func TestWhatMustBeTextIsRefusedBeforeItIsSent(t *testing.T) {
	_, err := PackStruct(object("a", Of(Reference{URN: urn.New("s", "p", "", "a:b:C", "n"), ID: String("\xff")})), keepAll)
	require.ErrorContains(t, err, "non-UTF8")
}
