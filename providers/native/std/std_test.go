package std_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/providers/native/std"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

func props(pairs ...any) property.Map { return nativetest.Props(pairs...) }

func stack(t *testing.T) (*nativetest.Stack, string) {
	o := native.Options{Directory: t.TempDir()}
	return nativetest.New(t, std.Package(o), "", o), o.Directory
}

func call(t *testing.T, s *nativetest.Stack, name string, args property.Map) (property.Value, error) {
	t.Helper()
	out, err := s.Invoke(std.Name+":index:"+name, args)
	return out.At("result"), err
}

func TestThePublicPackageIsMatched(t *testing.T) {
	tier.Slow(t, "npm packages")
	modules := "../../../source/nodejs/testdata/program"
	require.NoError(t, nodesdk.Install(modules))
	// In the public package matchkeys lacks an argument without which it can only fail.
	nativetest.RequireDeclared(t, std.Package(native.Options{}), modules, "@pulumi/std", "std:index:matchkeys")
}

type list = []any

// vectors are calls with their results. Most are from the tests of the public package.
var vectors = []struct {
	name string
	args property.Map
	want any
}{
	{"abs", props("input", -42.24), 42.24},
	{"alltrue", props("input", list{true, "true"}), true},
	{"alltrue", props("input", list{}), true},
	{"alltrue", props("input", list{true, 1}), false},
	{"anytrue", props("input", list{false, "true"}), true},
	{"anytrue", props("input", list{}), false},
	{"base64encode", props("input", "ABCDE"), "QUJDREU="},
	{"base64decode", props("input", "QUJDREU="), "ABCDE"},
	{"base64gzip", props("input", "abc"), "H4sIAAAAAAAA/0pMSgYAAAD//wEAAP//wkEkNQMAAAA="},
	{"base64sha256", props("input", "abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
	{"base64sha512", props("input", "abc"), "3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw=="},
	{"basename", props("input", "/path/to/pulumi"), "pulumi"},
	{"ceil", props("input", 1.2), 2},
	{"chomp", props("input", "a\nb\r\n\n"), "a\nb"},
	{"chunklist", props("input", list{1, 2, 3, 4, 5}, "size", 2), list{list{1, 2}, list{3, 4}, list{5}}},
	{"cidrhost", props("input", "10.0.0.0/8", "host", 2), "10.0.0.2"},
	{"cidrhost", props("input", "10.0.0.0/8", "host", -2), "10.255.255.254"},
	{"cidrnetmask", props("input", "10.0.0.0/8"), "255.0.0.0"},
	{"cidrsubnet", props("input", "10.0.0.0/8", "newbits", 8, "netnum", 2), "10.2.0.0/16"},
	{"cidrsubnet", props("input", "2607:f298:6051:516c::/64", "newbits", 8, "netnum", 2), "2607:f298:6051:516c:200::/72"},
	{"cidrsubnets", props("input", "10.0.0.0/8", "newbits", list{}), list{}},
	{"cidrsubnets", props("input", "10.0.0.0/8", "newbits", list{1}), list{"10.0.0.0/9"}},
	{"cidrsubnets", props("input", "10.1.0.0/16", "newbits", list{4, 4, 8, 4}), list{"10.1.0.0/20", "10.1.16.0/20", "10.1.32.0/24", "10.1.48.0/20"}},
	{"cidrsubnets", props("input", "fd00:fd12:3456:7800::/56", "newbits", list{16, 16, 16, 32}), list{
		"fd00:fd12:3456:7800::/72", "fd00:fd12:3456:7800:100::/72", "fd00:fd12:3456:7800:200::/72", "fd00:fd12:3456:7800:300::/88",
	}},
	{"coalesce", props("input", list{property.Null, "", "hello"}), "hello"},
	{"coalesce", props("input", list{property.Null, 1.0, "hello"}), "1"},
	{"coalesce", props("input", list{property.Null, 1000000, 2}), 1000000},
	{"coalesce", props("input", list{true, property.Null, "hello"}), "true"},
	{"coalescelist", props("input", list{list{}, list{1}, list{2}}), list{1}},
	{"compact", props("input", list{"", "one", property.Null, "two"}), list{"one", "two"}},
	{"concat", props("input", list{list{1, 2}, list{3}}), list{1, 2, 3}},
	{"contains", props("input", list{1, list{2}}, "element", list{2}), true},
	{"contains", props("input", list{"1"}, "element", 1), false},
	{"csvdecode", props("input", "a,b, c\n1,2,3\n\"4,5\",6,7\n"), list{props("a", "1", "b", "2", "c", "3"), props("a", "4,5", "b", "6", "c", "7")}},
	{"dirname", props("input", "/path/to/directory/file"), "/path/to/directory"},
	{"distinct", props("input", list{true, false, true, list{1}, list{1}}), list{true, false, list{1}}},
	{"element", props("input", list{10, 20, 30}, "index", 1), 20},
	{"element", props("input", list{10, 20, 30}, "index", 3), 10},
	{"element", props("input", list{10, 20, 30}, "index", -1), 30},
	{"endswith", props("input", "hello", "suffix", "llo"), true},
	{"flatten", props("input", list{1, list{2, list{3}}}), list{1, 2, 3}},
	{"floor", props("input", 1.8), 1},
	{"format", props("input", "hello-%%-%s", "args", list{"world"}), "hello-%-world"},
	{"format", props("input", "%v-%v-%v-%v-%v", "args", list{42, "hello", true, list{1, 2, 3}, props("hello", "world")}), `42-hello-true-[1,2,3]-{"hello":"world"}`},
	{"format", props("input", "%#v-%t-%b-%o-%x-%X", "args", list{"hello", true, 5, 42, 13, 42}), `"hello"-true-101-52-d-2A`},
	{"format", props("input", "%e-%.1f-%G-%q-%05d", "args", list{42000042.42, 13.13, 13.13, "hello", 42}), `4.200004e+07-13.1-13.13-"hello"-00042`},
	{"formatlist", props("input", "hello", "args", list{}), list{"hello"}},
	{"formatlist", props("input", "hello %s", "args", list{list{}}), list{}},
	{"formatlist", props("input", "%s %d %s", "args", list{list{"foo", "bar"}, 32, list{"baz", "quux"}}), list{"foo 32 baz", "bar 32 quux"}},
	{"indent", props("input", "a\nb", "spaces", 2), "a\n  b"},
	{"index", props("input", list{"one", "two"}, "element", "two"), 1},
	{"join", props("input", list{"one", "two"}, "separator", "-"), "one-two"},
	{"jsonencode", props("input", props("hello", "world")), `{"hello":"world"}`},
	{"jsonencode", props("input", list{1, true, "a<b"}), `[1,true,"a\u003cb"]`},
	{"jsondecode", props("input", `{"num":6.13,"strs":["a"]}`), props("num", 6.13, "strs", list{"a"})},
	{"jsondecode", props("input", `[1]`), list{1}},
	{"jsondecode", props("input", `no`), "no"},
	{"keys", props("input", props("one", 1, "hello", 2)), list{"hello", "one"}},
	{"length", props("input", "hello"), 5},
	{"length", props("input", list{1, 2}), 2},
	{"length", props("input", props("a", 1)), 1},
	{"log", props("input", 8, "base", 2), 3},
	{"lookup", props("map", props("a", 1), "key", "a", "default", 2), 1},
	{"lookup", props("map", props("a", 1), "key", "b", "default", 2), 2},
	{"lower", props("input", "ONE"), "one"},
	{"map", props("args", list{"a", 1, "b", list{}}), props("a", 1, "b", list{})},
	{"max", props("input", list{1, 3, 2}), 3},
	{"md5", props("input", "abc"), "900150983cd24fb0d6963f7d28e17f72"},
	{"merge", props("input", list{props("a", 1, "b", 2), props("a", 3)}), props("a", 3, "b", 2)},
	{"min", props("input", list{2, 1}), 1},
	{"parseint", props("input", "FF", "base", 16), 255},
	{"parseint", props("input", "100"), 100},
	{"parseint", props("input", "Z", "base", 62), 61},
	{"pow", props("base", 2, "exponent", 10), 1024},
	{"range", props("limit", 3), list{0, 1, 2}},
	{"range", props("start", 1, "limit", 4, "step", 0.5), list{1, 1.5, 2, 2.5, 3, 3.5}},
	{"range", props("start", 4, "limit", 1), list{4, 3, 2}},
	{"range", props("start", 10, "limit", 5, "step", -2), list{10, 8, 6}},
	{"range", props("start", 1, "limit", 5, "step", -1), list{}},
	{"regex", props("pattern", "a[a-z]+b", "string", "athentextb athenmoretextb"), "athentextb"},
	{"regex", props("pattern", "x", "string", ""), list{}},
	{"regex", props("pattern", "([0-9])([0-9])", "string", "1234"), list{"1", "2"}},
	{"regex", props("pattern", "(?P<first>[0-9])(?P<second>[0-9])", "string", "1234"), props("first", "1", "second", "2")},
	{"regexall", props("pattern", "a[a-z]+b", "string", "athentextb athenmoretextb"), list{"athentextb", "athenmoretextb"}},
	{"regexall", props("pattern", "([0-9])([0-9])", "string", "1234"), list{list{"1", "2"}, list{"3", "4"}}},
	{"regexall", props("pattern", "x", "string", ""), list{}},
	{"replace", props("text", "a.b.", "search", ".", "replace", "-"), "a-b-"},
	{"replace", props("text", "hello", "search", "/(l+)/", "replace", "<$1>"), "he<ll>o"},
	{"reverse", props("input", list{true, 1, "foo"}), list{"foo", 1, true}},
	{"setintersection", props("input", list{}), list{}},
	{"setintersection", props("input", list{list{"a", "b", "c"}, list{"a", "b"}, list{"a", "d"}}), list{"a"}},
	{"setintersection", props("input", list{list{1.1, 2.2, 3}, list{2.2, 3}, list{2.2, 3.0, 4.4}}), list{2.2, 3}},
	{"setintersection", props("input", list{list{"bob", true, "jane", 3}, list{"jane", 3, "true"}, list{true, "3", "jane"}}), list{"true", "jane", "3"}},
	{"sha1", props("input", "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d"},
	{"sha256", props("input", "abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{"sha512", props("input", "abc"), "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"},
	{"signum", props("input", -3), -1},
	{"slice", props("list", list{1, 2, 3}, "from", 1), list{2, 3}},
	{"slice", props("list", list{1, 2, 3}, "to", -1), list{1, 2}},
	{"sort", props("input", list{"apple", "Avocado", "Orange"}), list{"Avocado", "Orange", "apple"}},
	{"split", props("separator", ",", "text", "one,two"), list{"one", "two"}},
	{"startswith", props("input", "hello", "prefix", "he"), true},
	{"strrev", props("input", "he\u0301llo"), "olle\u0301h"},
	{"substr", props("input", "hello world", "offset", 0, "length", 5), "hello"},
	{"substr", props("input", "hello world", "offset", -5, "length", -1), "world"},
	{"substr", props("input", "hello", "offset", 9, "length", 2), ""},
	{"sum", props("input", list{1, 2.5}), 3.5},
	{"timeadd", props("timestamp", "2017-11-22T00:00:00Z", "duration", "20m"), "2017-11-22T00:20:00Z"},
	{"timecmp", props("timestampa", "2017-11-22T01:00:00Z", "timestampb", "2017-11-22T00:00:00-01:00"), 0},
	{"timecmp", props("timestampa", "2017-11-22T02:00:00Z", "timestampb", "2017-11-22T00:00:00Z"), 1},
	{"title", props("input", "hello world"), "Hello World"},
	{"tobool", props("input", "false"), false},
	{"tobool", props("input", property.Null), property.Null},
	{"tobool", props(), property.Null},
	{"tolist", props("input", list{"a", true, 3.14}), list{"a", "true", "3.14"}},
	{"tolist", props("input", list{1, 2}), list{1, 2}},
	{"toset", props("input", list{"a", true, "a", 3.14}), list{"a", "true", "3.14"}},
	{"tonumber", props("input", "10"), 10},
	{"tostring", props("input", 1234567.5), "1234567.5"},
	{"tostring", props("input", true), "true"},
	{"transpose", props("input", props("a", list{"1", "2"}, "b", list{"2", "3"})), props("1", list{"a"}, "2", list{"a", "b"}, "3", list{"b"})},
	{"trim", props("input", "!!Hello!", "cutset", "!"), "Hello"},
	{"trimprefix", props("input", "foo bar", "prefix", "foo"), " bar"},
	{"trimspace", props("input", " a\n"), "a"},
	{"trimsuffix", props("input", "foo bar", "suffix", "bar"), "foo "},
	{"upper", props("input", "one"), "ONE"},
	{"urlencode", props("input", "Hello World!"), "Hello+World%21"},
	{"values", props("input", props("two", 2, "one", 1)), list{1, 2}},
	{"zipmap", props("keys", list{"one", "two"}, "values", list{1, 2}), props("one", 1, "two", 2)},
}

func TestFunctionsHaveTheResultsOfThePublicPackage(t *testing.T) {
	s, _ := stack(t)
	tried := map[string]bool{}
	for _, v := range vectors {
		got, err := call(t, s, v.name, v.args)
		require.NoError(t, err, v.name)
		want := nativetest.Value(v.want)
		require.True(t, property.Equal(want, got), "%s(%v) is %v, not %v", v.name, v.args, got, want)
		tried[v.name] = true
	}
	// The others have tests of their own.
	for _, name := range []string{
		"abspath", "bcrypt", "file", "filebase64", "filebase64sha256", "filebase64sha512", "fileexists", "filemd5", "filesha1",
		"filesha256", "filesha512", "pathexpand", "rsadecrypt", "timestamp", "uuid",
	} {
		tried[name] = true
	}
	require.Len(t, tried, len(std.Package(native.Options{}).Functions))
}

func TestWhatCannotBeDoneIsAnError(t *testing.T) {
	s, _ := stack(t)
	for _, c := range []struct {
		name string
		args property.Map
		want string
	}{
		{"base64decode", props("input", "!"), "base64"},
		{"base64decode", props("input", "/w=="), "UTF-8"},
		{"chunklist", props("input", list{1}, "size", 0), "at least 1"},
		{"cidrhost", props("input", "10.0.0.0", "host", 1), "CIDR"},
		{"cidrhost", props("input", "10.0.0.0/31", "host", 5), "5"},
		{"cidrnetmask", props("input", "::/8"), "IPv6"},
		{"cidrsubnet", props("input", "10.0.0.0/8", "newbits", 2, "netnum", 9), "9"},
		{"cidrsubnet", props("input", "10.0.0.0/8", "newbits", 30, "netnum", 0), "30"},
		{"cidrsubnets", props("input", "10.0.0.0/8", "newbits", list{1, 1, 1}), "no room"},
		{"cidrsubnets", props("input", "10.0.0.0/8", "newbits", list{25}), "1 to 24"},
		{"coalesce", props("input", list{property.Null, ""}), "empty"},
		{"coalesce", props("input", list{1, true}), "in common"},
		{"coalesce", props("input", list{"a", list{}}), "neither"},
		{"coalescelist", props("input", list{list{}}), "empty"},
		{"compact", props("input", list{1}), "not a text"},
		{"csvdecode", props("input", "a,b\n1"), "fields"},
		{"csvdecode", props("input", "a,a\n1,2"), `"a"`},
		{"element", props("input", list{}, "index", 0), "empty"},
		{"formatlist", props("input", "", "args", list{list{1}, list{1, 2}}), "different lengths"},
		{"indent", props("input", "", "spaces", -1), "negative"},
		{"index", props("input", list{1}, "element", 2), "does not have"},
		{"length", props("input", 1), "must be"},
		{"log", props("input", 0, "base", 2), "no value"},
		{"lookup", props("map", props(), "key", "b"), `"b"`},
		{"map", props("args", list{"a"}), "no value"},
		{"map", props("args", list{1, 2}), "must be a text"},
		{"max", props("input", list{}), "empty"},
		{"parseint", props("input", "9", "base", 8), "base 8"},
		{"parseint", props("input", "9", "base", 63), "62"},
		{"range", props("limit", 1e9), "too large"},
		{"regex", props("pattern", "(", "string", ""), "missing"},
		{"regexall", props("pattern", "(?P<a>a)(b)", "string", "ab"), "names"},
		{"replace", props("text", "", "search", "/(/", "replace", ""), "missing"},
		{"rsadecrypt", props("cipherText", "!", "key", ""), "cipherText"},
		{"rsadecrypt", props("cipherText", "", "key", ""), "key"},
		{"slice", props("list", list{1}, "from", 2), "from is 2"},
		{"slice", props("list", list{1, 2}, "from", 2, "to", 1), "after to"},
		{"timeadd", props("timestamp", "now", "duration", "20m"), "now"},
		{"timecmp", props("timestampa", "now", "timestampb", "now"), "now"},
		{"tobool", props("input", "maybe"), "cannot be converted"},
		{"tolist", props("input", list{"a", list{}}), "in common"},
		{"tonumber", props("input", "x"), "cannot be converted"},
		{"tostring", props("input", list{}), "cannot be converted"},
		{"zipmap", props("keys", list{"a"}, "values", list{}), "1 keys"},
		{"file", props("input", "nothing"), "nothing"},
		{"fileexists", props("input", "."), "directory"},
	} {
		_, err := call(t, s, c.name, c.args)
		require.ErrorContains(t, err, c.want, "%s(%v)", c.name, c.args)
		require.ErrorContains(t, err, c.name)
	}
}

func TestFilesAreReadRelativeToTheProgram(t *testing.T) {
	s, dir := stack(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "message.txt"), []byte("hello world"), 0o600))
	for name, want := range map[string]any{
		"file": "hello world", "fileexists": true, "filemd5": "5eb63bbbe01eeed093cb22bb8f5acdc3",
		"filesha1":         "2aae6c35c94fcfb415dbe95f408b9ce91ee846ed",
		"filesha256":       "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
		"filesha512":       "309ecc489c12d6eb4cc40f50c902f2b4d0ed77ee511a7c7a9bcd3ca86d4cd86f989dd35bc5ff499670da34255b45b0cfd830e81f605dcf7dc5542e93ae9cd76f",
		"filebase64":       "aGVsbG8gd29ybGQ=",
		"filebase64sha256": "Yjk0ZDI3Yjk5MzRkM2UwOGE1MmU1MmQ3ZGE3ZGFiZmFjNDg0ZWZlMzdhNTM4MGVlOTA4OGY3YWNlMmVmY2RlOQ==",
		"filebase64sha512": "MzA5ZWNjNDg5YzEyZDZlYjRjYzQwZjUwYzkwMmYyYjRkMGVkNzdlZTUxMWE3YzdhOWJjZDNjYTg2ZDRjZDg2Zjk4OWRkMzViYzVmZjQ5OTY3MGRhMzQyNTViNDViMGNmZDgzMGU4MWY2MDVkY2Y3ZGM1NTQyZTkzYWU5Y2Q3NmY=",
		"abspath":          filepath.Join(dir, "message.txt"),
	} {
		got, err := call(t, s, name, props("input", "message.txt"))
		require.NoError(t, err, name)
		require.True(t, property.Equal(nativetest.Value(want), got), "%s: %v", name, got)
	}
	got, err := call(t, s, "fileexists", props("input", "nothing"))
	require.NoError(t, err)
	require.False(t, got.AsBool())
}

func TestTheUsersDirectoryStandsForATilde(t *testing.T) {
	s, _ := stack(t)
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for in, want := range map[string]string{"~": home, "~/a": filepath.Join(home, "a"), "~a": "~a", "a/~": "a/~"} {
		got, err := call(t, s, "pathexpand", props("input", in))
		require.NoError(t, err)
		require.Equal(t, want, got.AsString())
	}
}

func TestWhatIsAnotherEveryTimeIsOfItsKind(t *testing.T) {
	s, _ := stack(t)
	got, err := call(t, s, "uuid", props())
	require.NoError(t, err)
	_, err = uuid.Parse(got.AsString())
	require.NoError(t, err)
	got, err = call(t, s, "timestamp", props())
	require.NoError(t, err)
	_, err = time.Parse(time.RFC3339, got.AsString())
	require.NoError(t, err)

	got, err = call(t, s, "bcrypt", props("input", property.Secret(property.String("abc")), "cost", 4))
	require.NoError(t, err)
	require.True(t, got.IsSecret())
	hash := []byte(got.StripSecrets().AsString())
	require.NoError(t, bcrypt.CompareHashAndPassword(hash, []byte("abc")))
	cost, err := bcrypt.Cost(hash)
	require.NoError(t, err)
	require.Equal(t, 4, cost)
}

func TestWhatWasEncryptedIsDecrypted(t *testing.T) {
	s, _ := stack(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	//lint:ignore SA1019 what is tested needs it
	cipher, err := rsa.EncryptPKCS1v15(rand.Reader, &key.PublicKey, []byte("hello"))
	require.NoError(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	got, err := call(t, s, "rsadecrypt", props("cipherText", base64.StdEncoding.EncodeToString(cipher), "key", string(text)))
	require.NoError(t, err)
	require.Equal(t, "hello", got.AsString())
}
