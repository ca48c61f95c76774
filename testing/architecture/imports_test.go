package architecture

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "github.com/sluice-iac/sluice"
	sdk    = "github.com/pulumi/pulumi/sdk/v3/"
	await  = "pipeline/await"
	// Processes that end with this one, for packages that start processes and those that take over from a dead engine.
	processes = "internal/platform/process"
	// The user at the other end of a connection, for packages that serve on this machine or call such servers.
	peers = "internal/platform/peer"
	// Files and folders for their owner, for packages that write records of a stack.
	private = "internal/platform/private"
	// What is at a path, and files that are replaced as a whole, for packages that keep files.
	wholeFiles = "internal/platform/files"
	// The key store of the operating system, for the credentials file.
	keyStore = "internal/platform/keystore"
	// A limit on how slow transfers may be, for packages that receive them.
	paces = "internal/platform/pace"
	// The JSON schemas in the documentation, which the command line prints.
	schemas = "docs/schemas"
	// Lines of source files in messages, for packages that read programs and settings.
	excerpts = "internal/text/excerpt"
	// Documents in YAML and JSON with places, for packages that read programs.
	documents = "internal/text/syntax"
	// The name that somebody may have meant, for packages that suggest one.
	similarNames = "internal/text/similar"
	// The places of mistakes in YAML texts, for the same.
	yamlFaults = "internal/text/yamlfault"
	// The differences between values and between texts, for packages that explain and show them.
	comparison = "internal/text/comparison"
	align      = "internal/text/align"
	// Foreign texts in printable form, for programs that print.
	printables = "internal/text/printable"
	// The help texts of a program as pages, for the programs that have a manual.
	manuals = "internal/text/manual"
	// Places for what can be made again, for programs that compile.
	caches = "internal/platform/cache"
	// The processor time of this process, for measurements and for detecting hangs.
	cputime = "internal/platform/cputime"
	// The memory of this process, for the engine that bounds what an operation adds to it.
	memoryInUse = "internal/platform/memory"
	// The source that a program was built from, for the programs that say it.
	builds = "internal/platform/build"
	// Texts in JSON, for packages that make their own values of them.
	jsonScan = "internal/text/jsonscan"
	// The lines of a program that give properties, for the engine that explains them.
	statements = "internal/text/frames"
)

// allowed lists the top-level folders that the packages of a folder may import; "." is the root package. A path with a slash is that package alone,
// on both sides. A folder may always import itself. Folders that are not listed may import none of them.
var allowed = map[string][]string{
	"property":  {"urn", jsonScan},
	"advice":    {"urn"},
	"state":     {"urn", "advice", "property", "graph", await, processes, private, wholeFiles, keyStore, paces, printables, jsonScan},
	"providers": {"urn", "advice", "property", await, processes, peers, paces, wholeFiles},
	"stages":    {"urn", "advice", "property", "graph", "pipeline", "state", "providers", comparison, memoryInUse},
	// It enforces the rules for stages with the engine's code.
	"stages/stagestest": {"internal/slot"},
	// The items of stages name stack frames of package state.
	"source": {"urn", "advice", "property", "graph", await, peers, caches, wholeFiles, excerpts, documents, similarNames, yamlFaults, "state", "providers", "stages"},
	".":      {"urn", "advice", "property", "graph", "pipeline", "state", "providers", "stages", "source", "internal/operation", "internal/slot", "internal/tracing", statements, memoryInUse},
	// Host is above the engine: it hosts what the engine calls.
	"host": {"urn", "advice", "property", "state", "providers", "stages", "source", ".", "internal/operation", similarNames},
	// The drivers of object stores, databases and key services are linked only into programs that import this package.
	"cloud": {await, "state"},
	"cmd":   {"urn", "advice", "property", "state", "providers", "stages", "source", ".", "cloud", private, caches, wholeFiles, excerpts, documents, similarNames, yamlFaults, schemas, comparison, align, manuals, printables, builds, "host"},
	// It is a stage in a slot of the engine, and the form of stages is that of package pipeline.
	"cmd/sluice/internal/archives": {"pipeline"},
	"internal":                     {"urn", "advice", "property", "pipeline", "state", "providers", "stages", "source"},
	// The parts of tests drive the whole engine, and code that is not a test does not import them.
	"testing":  {"urn", "advice", "property", "pipeline", "state", "providers", "stages", "source", ".", "host", processes, cputime},
	"bench":    {"urn", "property", "pipeline", "state", "providers", "stages", "source", ".", "host", processes, cputime, wholeFiles, builds},
	"examples": {"urn", "property", "pipeline", "state", "providers", "stages", "source", ".", "host"},
}

// pkg is a package of the module with the imports of its code, without its tests.
type pkg struct {
	path    string // relative to the module, "." for the root
	imports []string
}

func (p pkg) folder() string { return folderOf(p.path) }

// folderOf returns the top-level folder of a package, by its path relative to the module.
func folderOf(path string) string {
	folder, _, _ := strings.Cut(path, "/")
	return folder
}

func packages(t *testing.T) []pkg {
	t.Helper()
	list, err := allPackages()
	require.NoError(t, err)
	require.Greater(t, len(list), 20)
	return list
}

// allPackages asks the go command, which takes a second.
var allPackages = sync.OnceValues(func() (list []pkg, err error) {
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		list = append(list, pkg{relative(words[0]), words[1:]})
	}
	return list, err
})

// relative returns the path of one of the module's packages within the module, "" for others.
func relative(importPath string) string {
	rest, ours := strings.CutPrefix(importPath, module)
	switch {
	case !ours:
		return ""
	case rest == "":
		return "."
	}
	return path.Clean(strings.TrimPrefix(rest, "/"))
}

func TestImportsPointDownwards(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.imports {
			own := relative(i)
			if own == "" {
				continue
			}
			to, list := folderOf(own), allowed[p.folder()]
			if p.path != p.folder() {
				list = slices.Concat(list, allowed[p.path])
			}
			if to != p.folder() && !slices.Contains(list, to) && !slices.Contains(list, own) {
				t.Errorf("package %s must not import %s", p.path, own)
			}
		}
	}
}

// rooms lists the packages of divided folders, from the top to the bottom: each may import those after it.
var rooms = map[string][]string{
	"stages/internal": {
		"imports", "endphase", "recovery", "refresh", "requests", "execute", "step", "plan", "possible", "closure", "targeting", "access", "compare", "rooms",
		"control",
	},
	"bench/internal": {"processes", "inprocess", "runner", "meter", "profiles", "formats", "plots", "results"},
}

func TestRoomsImportThoseBelowThem(t *testing.T) {
	for _, p := range packages(t) {
		house, name := path.Split(p.path)
		house = path.Clean(house)
		floors := rooms[house]
		if floors == nil {
			continue
		}
		own := slices.Index(floors, name)
		if own < 0 {
			t.Errorf("package %s has no floor", p.path)
			continue
		}
		for _, i := range p.imports {
			if below, ours := strings.CutPrefix(relative(i), house+"/"); ours && slices.Index(floors, below) < own {
				t.Errorf("package %s must not import %s, which is above it", p.path, below)
			}
		}
	}
}

// vocabulary lists the packages below the top-level folders that clients need: they have the types that the root package takes and returns.
var vocabulary = []string{
	"property/redact",
	"stages/renames", "stages/why",
	"state/backend", "state/backend/service", "state/backend/workspace", "state/lock", "state/secrets",
	"providers/plugin", "providers/plugin/install", "providers/providertest",
	"source/convert", "source/engine", "source/policy", "source/spans", "source/tooling",
}

// The command line and the benchmark are clients like any other: they use the root package, and import types from the packages that declare them.
// Package private protects their files like those of the library, packages excerpt, syntax and yamlfault show mistakes in settings like the
// library's in programs, package similar suggests names in both, package schemas has texts, and package manual writes the manual. The benchmark makes an engine of bare channels, counts the bytes
// written to disks, and ends what an interrupted process has left.
func TestClientsUseTheVocabularyAndNoOtherParts(t *testing.T) {
	for _, p := range packages(t) {
		if p.folder() != "cmd" && p.folder() != "bench" {
			continue
		}
		for _, i := range p.imports {
			own := relative(i)
			shared := []string{private, caches, wholeFiles, schemas, excerpts, documents, similarNames, yamlFaults, comparison, align, manuals, printables, builds}
			if p.folder() == "bench" {
				shared = append(shared, await, cputime, processes, "state/store")
			}
			if strings.Contains(own, "/") && folderOf(own) != p.folder() && !slices.Contains(vocabulary, own) && !slices.Contains(shared, own) {
				t.Errorf("package %s must not import %s", p.path, own)
			}
		}
	}
}

// Of Pulumi's module only the protocol is used; programs with its SDK are only examples and measurements.
func TestTheEngineUsesOnlyTheProtocolOfTheSDK(t *testing.T) {
	programs := []string{"bench/program"} // examples/go is a module of its own
	for _, p := range packages(t) {
		for _, i := range p.imports {
			if strings.HasPrefix(i, sdk) && !strings.HasPrefix(i, sdk+"proto/go") && !slices.Contains(programs, p.path) {
				t.Errorf("package %s must not import %s", p.path, i)
			}
		}
	}
}

// ofTheCommand are the families of packages that are linked into the command line, and not into a program that imports package host. A program
// that needs one imports it explicitly: package cloud has the drivers.
var ofTheCommand = []string{
	"cloud.google.com/go/", "google.golang.org/api/", "github.com/googleapis/", "github.com/aws/", "github.com/Azure/", "github.com/AzureAD/",
	"github.com/hashicorp/vault/", "gocloud.dev/", "github.com/jackc/", "golang.org/x/oauth2", // object stores, databases and key services
	"charm.land/", "github.com/charmbracelet/", "github.com/spf13/", "github.com/fsnotify/", // a terminal
	"github.com/tetratelabs/wazero", "git.sr.ht/~sbinet/gg", "golang.org/x/image/", "maragu.dev/", // pictures and reports
	"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters/", "go.opentelemetry.io/proto/", // for making and sending spans
	"github.com/KimMachineGun/automemlimit",
	"cel.dev/", "github.com/antlr4-go/", // questions
}

// hosting are the packages that the engine does not link: what hosts programs, plugins and backends. Package host links them.
var hosting = []string{
	module + "/host", module + "/cloud", module + "/state/backend", module + "/source/runtimes", module + "/source/yaml", module + "/source/nodejs",
	module + "/source/python", module + "/source/java", module + "/source/golang", module + "/source/policy", module + "/source/convert",
	module + "/providers/native", module + "/providers/plugin", module + "/source/tooling", module + "/internal/platform/process", module + "/bench", "github.com/pkg/sftp", "golang.org/x/crypto/bcrypt",
	"golang.org/x/crypto/ssh", "github.com/klauspost/compress", "github.com/pelletier", "github.com/BurntSushi/toml",
	// The protocol is for other processes, and what serves it belongs to their hosts.
	module + "/source/monitor", module + "/source/internal/loopback", module + "/internal/platform/peer", "google.golang.org/grpc", "google.golang.org/genproto",
	"github.com/pulumi", "golang.org/x/net", "html/template",
}

func TestTheEngineLinksNothingThatHosts(t *testing.T) {
	for _, d := range dependencies(t, ".") {
		for _, family := range hosting {
			if d == family || strings.HasPrefix(d, family+"/") {
				t.Errorf("the root package links %s: `go list -deps -f '{{.ImportPath}}: {{.Imports}}' .` says by which package", d)
			}
		}
	}
}

// A program that imports the library links what that uses: of OpenTelemetry the interface, and no cloud, no screen and no picture.
func TestTheLibraryLinksNothingOfTheCommand(t *testing.T) {
	library, command := dependencies(t, "./host"), dependencies(t, "./cmd/sluice")
	require.Contains(t, library, "go.opentelemetry.io/otel/trace")
	for _, family := range ofTheCommand {
		in := func(dependency string) bool { return strings.HasPrefix(dependency, family) }
		require.True(t, slices.ContainsFunc(command, in), "the command line no longer links %s: take it off the list", family)
		for _, d := range library {
			if in(d) {
				t.Errorf("package host links %s: `go list -deps -f '{{.ImportPath}}: {{.Imports}}' ./host` says by which package", d)
			}
		}
	}
	// Packages that only tests import, and those that only programs with Pulumi's SDK import.
	for _, family := range []string{
		"github.com/creack/pty", "github.com/hinshun/vt10x", "github.com/stretchr/", "pgregory.net/rapid", "github.com/johannesboyne/", "github.com/invopop/", "github.com/go-git/",
	} {
		for _, d := range append(library, command...) {
			require.False(t, strings.HasPrefix(d, family), "a program links %s", d)
		}
	}
}

// The linker leaves out methods that nothing calls, unless code calls methods by unknown names, as templates do. The command would then be larger by
// a third, and so would every program that imports the library (decision 0113).
func TestNothingCallsMethodsByName(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.imports {
			if i == "text/template" || i == "html/template" {
				t.Errorf("package %s must not import %s", p.path, i)
			}
		}
	}
}

// The SDK module requires gopkg.in/yaml.v3 for packages that nothing here uses. Its successor is the only reader of YAML.
func TestTheCommandLinksOneReaderOfYAML(t *testing.T) {
	linked := dependencies(t, "./cmd/sluice")
	require.Contains(t, linked, "go.yaml.in/yaml/v3")
	require.NotContains(t, linked, "gopkg.in/yaml.v3")
}

// dependencies returns the import paths of all packages that a package links.
func dependencies(t *testing.T, of string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", of)
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	list := strings.Fields(string(out))
	require.Greater(t, len(list), 100)
	return list
}

// A multierror holds the failures of an operation (docs/decisions/0230). All other aggregates have the method Unwrap() []error.
func TestOnlyOperationsHaveMultierrors(t *testing.T) {
	var have []string
	for _, p := range packages(t) {
		if slices.Contains(p.imports, "github.com/hashicorp/go-multierror") && p.folder() != "testing" {
			have = append(have, p.path)
		}
	}
	require.Equal(t, []string{".", "internal/operation"}, have)
}

func TestAwaitImportsNothingOfOurs(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.imports {
			if own := relative(i); p.path == await && own != "" {
				t.Errorf("package %s must not import %s", p.path, own)
			}
		}
	}
}
