package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/servicetest"
)

// TestService runs the scripts whose backend is the service. The name of a script selects the features of the service: "journal" or "delta"; with
// "certificate" it has a certificate that no client trusts. Unexpected calls are failures.
func TestService(t *testing.T) {
	t.Parallel()
	policies := filepath.Join(t.TempDir(), "policies")
	build(t, policies, "./testdata/gopolicies")
	manifest := "runtime:\n  name: go\n  options:\n    binary: " + policies + "\n"
	pack := packed(t, "beside.txt", "not of the pack", "package/PulumiPolicy.yaml", manifest, "package/more/text.txt", "text")
	p := scripts("testdata/service")
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		if err := setup(e); err != nil {
			return err
		}
		start := servicetest.New
		if strings.Contains(e.WorkDir, "certificate") {
			start = servicetest.NewTLS
		}
		server := start(servicetest.Options{
			Users: map[string]string{"pul-alice": "alice", "pul-bob": "bob", "pul-0nly-in-credentials": "alice"},
			Members: map[string][]string{
				"acme": {"alice", "bob"}, "bobs": {"bob"}, "strict": {"alice"}, "lenient": {"alice"}, "hostile": {"alice"}, "torn": {"alice"}, "gone": {"alice"}, "configured": {"alice"},
			},
			Policies: map[string][]servicetest.RequiredPolicy{
				"strict": {{Name: "guard", Version: 3, VersionTag: "1.2.0", Archive: pack}},
				"lenient": {{
					Name: "guard", Version: 4, VersionTag: "next_one", Archive: pack,
					Config: map[string]json.RawMessage{"limited-size": json.RawMessage(`{"enforcementLevel": "advisory"}`)},
				}},
				"hostile":    {{Name: "guard", Version: 3, Archive: packed(t, "package/../../../evil", "x")}},
				"torn":       {{Name: "guard", Version: 3, Archive: pack[:len(pack)-3]}},
				"gone":       {{Name: "guard", Version: 3, VersionTag: "1.2.0"}},
				"configured": {{Name: "guard", Version: 3, Archive: pack, Environments: []string{"rules/soft"}}},
			},
			Environments: map[string]string{
				"acme/shop/base": `values:
  pulumiConfig:
    region: eu
    demo:size: 3
    "other:flag": true
    nested: {a: 1, b: {fn::secret: hidden-part-9}, c: [x]}
    password: {fn::secret: setting-secret-9}
  environmentVariables: {COLOR: blue, TOKEN: {fn::secret: variable-secret-9}, IGNORED: [1]}
  files: {KEYFILE: {fn::secret: file-secret-9}}
`,
				"acme/shop/late":        "imports: [shop/base]\nvalues: {pulumiConfig: {region: us, outside: {fn::open: from-outside}}}",
				"acme/shop/other":       "values: {pulumiConfig: {region: other}}",
				"acme/shop/none":        "values: {text: unused}",
				"acme/shop/broken":      "imports: [shop/missing]",
				"acme/rules/local":      "values: {policyConfig: {limited-size: {enforcementLevel: advisory}}}",
				"configured/rules/soft": "values: {policyConfig: {'guard:limited-size': {enforcementLevel: advisory}, 'others:limited-size': {enforcementLevel: mandatory}}}",
			},
			Journal: strings.Contains(e.WorkDir, "journal"), Delta: strings.Contains(e.WorkDir, "delta"), Batch: true,
		})
		e.Values[serviceKey{}] = server
		e.Defer(func() {
			server.Close()
			for _, v := range server.Violations() {
				t.Errorf("%s: %s", e.WorkDir, v)
			}
		})
		e.Setenv("SERVICE", server.URL())
		e.Setenv("PULUMI_BACKEND_URL", server.URL())
		if err := os.MkdirAll(filepath.Join(e.WorkDir, "pack"), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(e.WorkDir, "pack", "PulumiPolicy.yaml"), []byte(manifest), 0o644); err != nil {
			return err
		}
		host := strings.ReplaceAll(strings.TrimPrefix(server.URL(), "http://"), ":", "_")
		e.Setenv("JOURNAL", e.WorkDir+"/home/sluice/service/"+host+"/alice/.pulumi/sluice/journal/demo/dev.jnl")
		e.Setenv("PULUMI_ACCESS_TOKEN", "pul-alice")
		e.Setenv("PULUMI_CONFIG_PASSPHRASE", "")
		e.Setenv("SLUICE_SERVICE_PATIENCE", "3s")
		return nil
	}
	p.Cmds["fault"] = fault
	p.Cmds["heal"] = func(ts *testscript.TestScript, _ bool, _ []string) { serviceOf(ts).Heal() }
	p.Cmds["called"] = called
	p.Cmds["keepsettings"] = func(ts *testscript.TestScript, _ bool, args []string) { serviceOf(ts).KeepSettings(args[0], args[1]) }
	p.Cmds["latestupdate"] = func(ts *testscript.TestScript, _ bool, args []string) { // latestupdate VARIABLE STACK
		ts.Setenv(args[0], serviceOf(ts).LatestUpdate(args[1]))
	}
	p.Cmds["forgetcalls"] = func(ts *testscript.TestScript, _ bool, _ []string) { serviceOf(ts).Calls() }
	testscript.Run(t, p)
}

// packed returns a compressed tar archive of files, given as alternating names and contents.
func packed(t *testing.T, files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for file := range slices.Chunk(files, 2) {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: file[0], Mode: 0o644, Size: int64(len(file[1]))}))
		_, err := archive.Write([]byte(file[1]))
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, zipped.Close())
	return out.Bytes()
}

type serviceKey struct{}

func serviceOf(ts *testscript.TestScript) *servicetest.Server {
	return ts.Value(serviceKey{}).(*servicetest.Server)
}

// fault makes calls of the service fail: fault '{"call": "PATCH checkpoint", "status": 500}'.
func fault(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: fault JSON")
	}
	var f servicetest.Fault
	ts.Check(json.Unmarshal([]byte(args[0]), &f))
	serviceOf(ts).Inject(f)
}

// called checks the number of calls of the service with a method and a part of a path, and clears the list of calls: called PATCH checkpoint 1.
// Without a number, there was at least one; with !, there was none.
func called(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: called METHOD PART [TIMES]")
	}
	n := 0
	calls := serviceOf(ts).Calls()
	for _, c := range calls {
		if c.Method == args[0] && strings.Contains(c.Path, args[1]) {
			n++
		}
	}
	switch {
	case neg && n > 0, !neg && n == 0:
	case len(args) == 3 && strconv.Itoa(n) != args[2]:
	default:
		return
	}
	for _, c := range calls {
		ts.Logf("%s %s?%s %d %s %s", c.Method, c.Path, c.Query, c.Status, c.User, c.Body)
	}
	ts.Fatalf("%s %s was called %d times", args[0], args[1], n)
}
