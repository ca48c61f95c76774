package codegen

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// TestNamesOfPythonProperties compares names with those in published SDKs.
func TestNamesOfPythonProperties(t *testing.T) {
	for name, want := range map[string]string{
		"bucket": "bucket", "minLength": "min_length", "instanceID": "instance_id", "instanceId": "instance_id", "publicIPs": "public_ips",
		"SHA256Hash": "sha256_hash", "isHTTPServer": "is_http_server", "openXJsonSerDe": "open_x_json_ser_de", "kubeAPIQps": "kube_api_qps",
		"x509": "x509", "$ref": "_ref", "x-kubernetes-map": "x_kubernetes_map", "from": "from_", "lambda": "lambda_", "print": "print_",
		"already_snake": "already_snake", "A": "a", "URL": "url", "3d": "_3d",
	} {
		require.Equal(t, want, pythonName(name), name)
	}
	require.Equal(t, "opts_", pythonParameter("opts"), "every resource has a parameter of this name")
	require.Equal(t, "resource_name_", pythonParameter("resourceName"))
}

func TestClassesAreWhereTheSchemaSays(t *testing.T) {
	for name, x := range map[string]struct {
		schema, token, python, module, java string
	}{
		"plain":             {`{"name": "random"}`, "random:index:Pet", "random.Pet", "pulumi_random", "com.pulumi.random.Pet"},
		"hyphens":           {`{"name": "azure-native"}`, "azure-native:web:App", "azure_native.web.App", "pulumi_azure_native", "com.pulumi.azurenative.web.App"},
		"a keyword":         {`{"name": "import"}`, "import:class:Lambda", "import_.class_.Lambda", "pulumi_import", "com.pulumi.import_.class_.Lambda"},
		"a namespace":       {`{"name": "time", "namespace": "my-org"}`, "time:index:Sleep", "time.Sleep", "my_org_time", "com.myorg.time.Sleep"},
		"a lower-case name": {`{"name": "x"}`, "x:someModule:thing", "x.somemodule.Thing", "pulumi_x", "com.pulumi.x.someModule.Thing"},
		"a provider":        {`{"name": "x"}`, "pulumi:providers:x", "x.Provider", "pulumi_x", "com.pulumi.x.Provider"},
		"the SDK itself":    {`{"name": "pulumi"}`, "pulumi:pulumi:StackReference", "pulumi.StackReference", "pulumi_pulumi", "com.pulumi.resources.StackReference"},
		"overrides": {`{"name": "kube", "language": {
			"python": {"packageName": "org-kube", "moduleNameOverrides": {"apps.k8s.io/v1": "apps/v1"}},
			"java": {"basePackage": "org.example", "packages": {"kube": "k8s", "apps.k8s.io/v1": "apps.v1"}}}}`,
			"kube:apps.k8s.io/v1:Deployment", "kube.apps.v1.Deployment", "org_kube", "org.example.k8s.apps.v1.Deployment"},
	} {
		s, err := ParseSchema(x.schema)
		require.NoError(t, err)
		s.resources = map[string]json.RawMessage{}
		token := urn.Type(x.token)
		require.Equal(t, x.python, pythonClass(s, token), name)
		require.Equal(t, x.module, pythonPackage(s), name)
		require.Equal(t, x.java, javaPackage(s, token, "")+"."+javaClass(token), name)
	}
}

func TestNamesOfJavaPropertiesAndMembers(t *testing.T) {
	for name, want := range map[string]string{
		"bucket": "bucket", "default": "default_", "notify": "notify_", "builder": "builder_", "$ref": "$ref", "x-y": "xy", "a.b": "a_b", "3d": "_3d",
	} {
		require.Equal(t, want, javaSetter(name), name)
	}
	for name, want := range map[string]string{
		"hot": "Hot", "t2.micro": "T2_micro", "*": "Asterisk", "7": "Seven", "10": "_10", "a--b": "Ab", "a  b": "A_b", "+": "", "new": "New_",
	} {
		require.Equal(t, want, javaMember(enumMember{name: name}), name)
	}
	require.Equal(t, `"\"\\\n\u00e9\ud83d\ude00\u0000"`, javaString("\"\\\né😀\x00"))
	require.True(t, strings.HasPrefix(javaString(strings.Repeat("x", 70000)), `String.join("", "xxx`), "a constant has at most 65535 bytes")
}

// unusual returns a program with values that do not fit the schema, or that need care in one of the languages.
func unusual(t *testing.T) Program {
	t.Helper()
	text, err := os.ReadFile("testdata/unusual.json")
	require.NoError(t, err)
	schema, err := ParseSchema(string(text))
	require.NoError(t, err)
	long := map[string]property.Value{}
	for _, letter := range "abcdefghij" {
		long[string(letter)] = property.Secret(property.String(secretText))
	}
	return Program{
		Schemas: map[string]*Schema{defaultRef: schema, explicitRef: schema},
		Resources: []*state.Resource{
			resource("cloud:index:Thing", "first", "first-id", mapOf("default", "x", "class", true, "opts", "o")),
			resource("cloud:index:Thing", "second", "second-id", mapOf(
				"links", property.Of(property.NewMap(long)), "path", []any{"a", "first-id", "b"}, "level", 2, "size", "wrong", "plainSecret", property.Secret(property.String(secretText)),
				"plainText", "first-id", "anything", "first-id", "choice", "first-id", "choices", []any{1, "first-id", "x"}, "huge", 5000000000,
				"mood", "sad", "moods", []any{"good", "new"}, "secretMood", property.Secret(property.String("good")), "foreign", mapOf("a", 1),
				"config", mapOf("inner", mapOf("notify", "first-id")),
				"secretTags", mapOf("a", property.Secret(property.String(secretText)), "b", "first-id"),
			)),
			resource("cloud:index:Group", "remote", "", property.Map{}, func(r *state.Resource) { r.Custom, r.Protect = false, true }),
			resource("pulumi:providers:cloud", "explicit", "id", mapOf("retries", "3", "zones", `["a","b"]`, "quiet", "true", "region", "5"),
				func(r *state.Resource) { r.Provider = "" }),
		},
	}
}

func TestUnusualValues(t *testing.T) {
	for runtime, file := range map[string]string{
		"yaml": "unusual.yaml", "nodejs": "unusual.ts", "go": "unusual.go.txt", "python": "unusual.py", "java": "unusual.java",
	} {
		t.Run(runtime, func(t *testing.T) {
			got, err := Generate(runtime, unusual(t))
			require.NoError(t, err)
			require.NotContains(t, string(got), secretText)
			golden(t, file, got)
		})
	}
}

func TestStackReferencesArePartOfTheSDKs(t *testing.T) {
	p := Program{Resources: []*state.Resource{
		resource("pulumi:pulumi:StackReference", "network", "org/network/dev", mapOf("name", "org/network/dev")),
	}}
	for runtime, want := range map[string]string{
		"nodejs": "const network = new pulumi.StackReference(\"network\", {\n    name: \"org/network/dev\",\n});",
		"python": "network = pulumi.StackReference(\"network\",\n    stack_name=\"org/network/dev\")",
		"java":   "var network = new StackReference(\"network\", StackReferenceArgs.builder()\n            .name(\"org/network/dev\")",
	} {
		got, err := Generate(runtime, p)
		require.NoError(t, err)
		require.Contains(t, string(got), want)
	}
}

func TestPlaceholdersOfTypesThatRequireEachOtherEnd(t *testing.T) {
	types, properties, required := []string{}, []string{}, []string{}
	for i := range 20 {
		properties = append(properties, fmt.Sprintf(`"p%d": {"$ref": "#/types/cloud:index:T%d"}`, i, i))
		required = append(required, fmt.Sprintf(`"p%d"`, i))
	}
	for i := range 20 {
		types = append(types, fmt.Sprintf(`"cloud:index:T%d": {"type": "object", "properties": {%s}, "required": [%s]}`, i,
			strings.Join(properties, ","), strings.Join(required, ",")))
	}
	schema, err := ParseSchema(fmt.Sprintf(`{"name": "cloud", "types": {%s}, "resources": {"cloud:index:Thing": {
		"inputProperties": {"first": {"$ref": "#/types/cloud:index:T0"}}, "requiredInputs": ["first"]}}}`, strings.Join(types, ",")))
	require.NoError(t, err)
	for _, runtime := range Runtimes() {
		got, err := Generate(runtime, Program{
			Schemas: map[string]*Schema{defaultRef: schema}, Resources: []*state.Resource{resource("cloud:index:Thing", "a", "a", property.Map{})},
		})
		require.NoError(t, err)
		require.Less(t, len(got), 1<<20, runtime)
	}
}
