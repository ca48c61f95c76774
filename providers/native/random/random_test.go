package random_test

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/providers/native/random"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
	"github.com/sluice-iac/sluice/urn"
)

func stack(t *testing.T, name string) *nativetest.Stack {
	typ := urn.Type("random:index/r" + name[1:] + ":" + name)
	return nativetest.New(t, random.Package(native.Options{}), typ, native.Options{})
}

func props(pairs ...any) property.Map { return nativetest.Props(pairs...) }

func plain(v property.Value) property.Value { return v.StripSecrets() }

func TestThePublicPackageIsMatched(t *testing.T) {
	tier.Slow(t, "npm packages")
	modules := "../../../source/nodejs/testdata/program"
	require.NoError(t, nodesdk.Install(modules))
	nativetest.RequireDeclared(t, random.Package(native.Options{}), modules, "@pulumi/random")
}

func TestIdentifierHasItsBytesInEveryNotation(t *testing.T) {
	s := stack(t, "RandomId")
	s.Import("pre,fix,AQIDBP8") // the bytes 1 2 3 4 255
	require.Equal(t, "AQIDBP8", s.ID)
	want := props("byteLength", 5, "prefix", "pre,fix", "b64Url", "pre,fixAQIDBP8", "b64Std", "pre,fixAQIDBP8=",
		"hex", "pre,fix01020304ff", "dec", "pre,fix4328719615")
	require.True(t, property.IdenticalMaps(want, s.Outputs), "%v", s.Outputs)
	s.RequireSame(props("byteLength", 5, "prefix", "pre,fix"))
	s.RequireReplace(props("byteLength", 6, "prefix", "pre,fix"), "byteLength")
	s.RequireUnchanged()
	require.ErrorContains(t, s.TryImport("!"), "base64")

	out := s.Create(props("byteLength", "7"))
	b, err := base64.RawURLEncoding.DecodeString(out.At("b64Url").AsString())
	require.NoError(t, err)
	require.Len(t, b, 7)
	require.Equal(t, s.ID, out.At("b64Url").AsString())
	require.NoError(t, s.Delete())
}

func TestPasswordIsSecretAndHasItsBcryptHash(t *testing.T) {
	s := stack(t, "RandomPassword")
	in := props("length", 100, "minUpper", 3, "minNumeric", 90, "special", false)
	out := s.Create(in)
	require.Equal(t, "none", s.ID)
	require.True(t, out.At("result").IsSecret() && out.At("bcryptHash").IsSecret())
	result := plain(out.At("result")).AsString()
	require.Regexp(t, `^[A-Za-z0-9]{100}$`, result)
	require.GreaterOrEqual(t, len(regexp.MustCompile(`[A-Z]`).FindAllString(result, -1)), 3)
	require.GreaterOrEqual(t, len(regexp.MustCompile(`[0-9]`).FindAllString(result, -1)), 90)
	hash := []byte(plain(out.At("bcryptHash")).AsString())
	require.NoError(t, bcrypt.CompareHashAndPassword(hash, []byte(result[:72])))
	require.Error(t, bcrypt.CompareHashAndPassword(hash, []byte(result[1:73])))
	require.Equal(t, `{"schema_version":"3"}`, out.At("__meta").AsString())
	s.RequireSame(in)
	s.RequireSame(in.With("numeric", property.Bool(true)))
	s.RequireReplace(in.With("numeric", property.Bool(false)).With("minNumeric", property.Number(0)), "numeric", "minNumeric")
	s.RequireReplace(in.With("special", property.Bool(true)), "special")
	s.RequireUnchanged()
}

func TestImportedPasswordIsAsMadeWithTheDefaults(t *testing.T) {
	s := stack(t, "RandomPassword")
	out := s.Import("hunter2")
	require.Equal(t, "none", s.ID)
	require.Equal(t, "hunter2", plain(out.At("result")).AsString())
	require.True(t, out.At("result").IsSecret())
	require.NoError(t, bcrypt.CompareHashAndPassword([]byte(plain(out.At("bcryptHash")).AsString()), []byte("hunter2")))
	s.RequireSame(props("length", 7))
	s.RequireReplace(props("length", 8), "length")
}

func TestStringUsesTheCharactersItMay(t *testing.T) {
	s := stack(t, "RandomString")
	in := props("length", 40, "upper", false, "number", false, "lower", false, "overrideSpecial", "äx")
	out := s.Create(in)
	require.Regexp(t, `^[äx]{40}$`, out.At("result").AsString())
	require.False(t, out.At("numeric").AsBool())
	require.Equal(t, s.ID, out.At("result").AsString())
	s.RequireSame(in)
	s.RequireSame(in.Without("number").With("numeric", property.Bool(false)))
	s.RequireReplace(in.With("number", property.Bool(true)), "number")

	s.Import("abc")
	require.Equal(t, []string{"length", "numeric"}, s.Inputs.Names())
	s.RequireSame(props("length", 3))
	s.RequireSame(props("length", 3, "overrideSpecial", ""))
}

func TestInputsOfStringsAreChecked(t *testing.T) {
	cases := map[string]struct {
		in       property.Map
		property string
	}{
		"no length":           {props(), "length"},
		"empty":               {props("length", 0), "length"},
		"too short":           {props("length", 3, "minLower", 2, "minUpper", 2), "length"},
		"contradiction":       {props("length", 3, "number", true, "numeric", false), "number"},
		"nothing allowed":     {props("length", 3, "lower", false, "upper", false, "numeric", false, "special", false), "special"},
		"not a number":        {props("length", "many"), "length"},
		"unknown name":        {props("length", 3, "size", 3), "size"},
		"not whole":           {props("length", 3.5), "length"},
		"keepers are strings": {props("length", 3, "keepers", props("a", []string{"b"})), "keepers.a"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.property, stack(t, "RandomString").Refused(c.in)[0].Property)
		})
	}
}

// The vectors are from the tests of the public package.
func TestSeedsGiveTheChoicesOfThePublicPackage(t *testing.T) {
	s := stack(t, "RandomInteger")
	require.Equal(t, 3.0, s.Create(props("min", 1, "max", 3, "seed", "12345")).At("result").AsNumber())
	require.Equal(t, 7.0, s.Create(props("min", 7, "max", 7)).At("result").AsNumber())
	require.Equal(t, "7", s.ID)
	require.Equal(t, "min", s.Refused(props("min", 2, "max", 1))[0].Property)
	require.ErrorContains(t, s.TryCreate(props("min", -9e18, "max", 9e18)), "too many")

	s = stack(t, "RandomShuffle")
	out := s.Create(props("inputs", []string{"a", "b", "c", "d", "e"}, "seed", "-"))
	require.True(t, property.Equal(native.Texts([]string{"a", "c", "b", "e", "d"}), out.At("results")), "%v", out)
}

func TestIntegerIsImported(t *testing.T) {
	s := stack(t, "RandomInteger")
	s.Import("15390,1,50000,seed")
	require.Equal(t, "15390", s.ID)
	s.RequireSame(props("min", 1, "max", 50000, "seed", "seed"))
	s.RequireReplace(props("min", 1, "max", 50000), "seed")
	require.ErrorContains(t, s.TryImport("1,2"), "<result>,<min>,<max>")
	require.ErrorContains(t, s.TryImport("1,x,2"), "min")
}

func TestPetIsItsID(t *testing.T) {
	s := stack(t, "RandomPet")
	out := s.Create(props("prefix", "my", "length", 3))
	require.Regexp(t, `^my-[a-z]+-[a-z]+-[a-z]+$`, s.ID)
	require.Equal(t, "-", out.At("separator").AsString())
	s.RequireSame(props("prefix", "my", "length", 3, "separator", "-"))
	s.RequireReplace(props("prefix", "my", "length", 3, "separator", "_"), "separator")
	require.ErrorContains(t, s.TryImport("x"), "cannot be imported")
}

func TestShuffleRepeatsTheListAsOftenAsNeeded(t *testing.T) {
	s := stack(t, "RandomShuffle")
	out := s.Create(props("inputs", []string{"a", "b", "c"}, "resultCount", 7))
	require.Equal(t, "-", s.ID)
	var got []string
	for _, v := range out.At("results").AsArray().All() {
		got = append(got, v.AsString())
	}
	require.Len(t, got, 7)
	require.ElementsMatch(t, []string{"a", "b", "c"}, got[:3])
	require.ElementsMatch(t, []string{"a", "b", "c"}, got[3:6])
	require.Equal(t, 0, s.Create(props("inputs", []string{"a"}, "resultCount", 0)).At("results").AsArray().Len())
	require.Equal(t, 0, s.Create(props("inputs", []string{})).At("results").AsArray().Len())
}

func TestUUIDsHaveTheirVersions(t *testing.T) {
	for name, version := range map[string]uuid.Version{"RandomUuid": 4, "RandomUuid4": 4, "RandomUuid7": 7} {
		t.Run(name, func(t *testing.T) {
			s := stack(t, name)
			out := s.Create(props())
			u, err := uuid.Parse(out.At("result").AsString())
			require.NoError(t, err)
			require.Equal(t, version, u.Version())
			require.Equal(t, s.ID, out.At("result").AsString())
			s.Import(strings.ToUpper(s.ID))
			require.Equal(t, u.String(), s.ID)
			require.Error(t, s.TryImport("no"))
		})
	}
}

func TestBytesAreSecretExceptInTheID(t *testing.T) {
	s := stack(t, "RandomBytes")
	out := s.Import("AP8=")
	require.Equal(t, "AP8=", s.ID)
	require.True(t, out.At("base64").IsSecret() && out.At("hex").IsSecret())
	require.Equal(t, "00ff", plain(out.At("hex")).AsString())
	s.RequireSame(props("length", 2))
	require.Len(t, plain(s.Create(props("length", 9)).At("hex")).AsString(), 18)
}

func TestKeepersReplaceUnlessTheyAreWithoutValue(t *testing.T) {
	s := stack(t, "RandomUuid")
	s.Create(props("keepers", props("a", "1")))
	s.RequireSame(props("keepers", props("a", "1")))
	s.RequireSame(props("keepers", props("a", "1", "b", property.Null)))
	s.RequireSame(props("keepers", props("a", property.Secret(property.String("1")))))
	s.RequireReplace(props("keepers", props("a", "2")), "keepers")
	s.RequireReplace(props("keepers", props("a", property.Computed())), "keepers")
	s.RequireReplace(props(), "keepers")
	require.Contains(t, s.Diff(props("keepers", props("a", "2"))).DetailedDiff, "keepers.a")
}

func TestPreviewKnowsWhatTheInputsSay(t *testing.T) {
	s := stack(t, "RandomPassword")
	out := s.Preview(props("length", 5))
	require.True(t, plain(out.At("result")).IsUnknown() && out.At("result").IsSecret())
	require.Equal(t, 5.0, out.At("length").AsNumber())
	require.True(t, out.At("upper").AsBool())
	require.True(t, out.At("numeric").IsUnknown() || out.At("numeric").AsBool())
	require.True(t, s.Preview(props("length", property.Computed())).At("length").IsUnknown())
}

// A state that the plugin of the public package writes works like one that is written here.
func TestStateOfThePluginIsTaken(t *testing.T) {
	s := stack(t, "RandomPassword")
	s.ID = "none"
	s.Inputs = props("__defaults", []string{}, "length", 3)
	s.Outputs = props("__meta", `{"schema_version":"3"}`, "__pulumi_raw_state_delta", props("obj", props()),
		"bcryptHash", property.Secret(property.String("$2a$x")), "length", 3, "lower", true, "minLower", 0, "minNumeric", 0,
		"minSpecial", 0, "minUpper", 0, "number", true, "numeric", true, "result", property.Secret(property.String("abc")),
		"special", true, "upper", true)
	s.RequireSame(props("length", 3))
	s.RequireUnchanged()
	require.Equal(t, providers.DiffSome, s.Diff(props("length", 4)).Changes)
}

func TestSchemaIsWritten(t *testing.T) {
	text, err := stack(t, "RandomId").P.Schema(t.Context(), providers.SchemaRequest{})
	require.NoError(t, err)
	require.Contains(t, text, `"random:index/randomId:RandomId"`)
	require.Contains(t, text, `"keepers":{"type":"object","additionalProperties":{"type":"string"}`)
}
