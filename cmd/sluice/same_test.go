package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/pythonsdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

// The programs of these tests have 26 groups: a source, two users of the source whose replacements delete first, and a resource that depends
// on both users, so that either of them may be named as its cause. Their calls take random times.

// groupsInYAML is such a program. Its text has b before a in every other group, so that places and names are different orders.
func groupsInYAML() string {
	var b strings.Builder
	b.WriteString("name: shop\nruntime: yaml\nconfig: {size: {type: string}}\nresources:\n")
	thing := func(name, properties, keys, options string) {
		fmt.Fprintf(&b, "  %s:\n    type: sim:index:Resource\n    properties: {computed: [key], replaceOn: [%s], properties: {%s}}\n    options: {%s}\n", name, keys, properties, options)
	}
	for i := range 26 {
		users := []string{"a", "b"}
		if i%2 == 1 {
			users = []string{"b", "a"}
		}
		thing(fmt.Sprint("c", i), fmt.Sprintf(`x: "${a%d.values.key}", y: "${b%d.values.key}"`, i, i), "x, y", "")
		for _, user := range users {
			thing(fmt.Sprint(user, i), fmt.Sprintf(`size: "${s%d.values.key}"`, i), "size", "deleteBeforeReplace: true")
		}
		thing(fmt.Sprint("s", i), `size: "${size}"`, "size", "")
	}
	return b.String()
}

const groupsInNode = `const pulumi = require("@pulumi/pulumi");
const size = new pulumi.Config().require("size");
class Thing extends pulumi.CustomResource {
  constructor(name, properties, opts) {
    super("sim:index:Resource", name, { properties, computed: ["key"], replaceOn: Object.keys(properties), values: undefined }, opts);
  }
}
const later = async (make) => {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
  return make();
};
const key = (thing) => thing.values.apply((values) => values.key);
const group = async (i) => {
  const source = await later(() => new Thing("s" + i, { size }));
  const user = (name) => later(() => new Thing(name + i, { size: key(source) }, { deleteBeforeReplace: true }));
  const [a, b] = await Promise.all([user("a"), user("b")]);
  await later(() => new Thing("c" + i, { x: key(a), y: key(b) }));
};
module.exports = async () => { await Promise.all([...Array(26).keys()].map(group)); };
`

const groupsInPython = `import asyncio, random
import pulumi

size = pulumi.Config().require("size")

class Thing(pulumi.CustomResource):
    values: pulumi.Output[dict]

    def __init__(self, name, properties, **options):
        props = {"properties": properties, "computed": ["key"], "replaceOn": sorted(properties), "values": None}
        super().__init__("sim:index:Resource", name, props, pulumi.ResourceOptions(**options))

async def pause():
    await asyncio.sleep(random.random() / 50)
    return 0

def later(make):
    return pulumi.Output.from_input(pause()).apply(lambda _: make())

def key(thing):
    return thing.values.apply(lambda values: values["key"])

def group(i):
    def users(source):
        def user(name):
            return later(lambda: held(Thing(f"{name}{i}", {"size": key(source)}, delete_before_replace=True)))
        pulumi.Output.all(user("a"), user("b")).apply(
            lambda both: later(lambda: held(Thing(f"c{i}", {"x": key(both[0][0]), "y": key(both[1][0])}))))
    later(lambda: users(Thing(f"s{i}", {"size": size})))

def held(thing):
    return (thing,)

for i in range(26):
    group(i)
`

// compared is how many failing previews are compared, each with another number of calls at once.
const compared = 4

func TestTheSamePreviewIsTheSameTextInYAML(t *testing.T) {
	t.Parallel()
	requireSamePreviews(t, newPreviews(t, "", groupsInYAML()))
}

func TestTheSamePreviewIsTheSameTextInGo(t *testing.T) {
	t.Parallel()
	p := newPreviews(t, "Pulumi.yaml", "name: shop\nruntime: {name: go, options: {binary: program}}\n")
	build(t, p.project+"/program", "./testdata/anyorder")
	requireSamePreviews(t, p)
	p.run("config", "set", "drop", "true") // the reasons of deletes are decided in another way
	p.requireSame()
}

// failingInYAML has resources whose inputs are refused, and users of them. The latencies of the provider are random.
const failingInYAML = `name: fails
runtime: yaml
resources:
  a: {type: "sim:index:Resource", properties: {properties: {x: 1}}}
  b: {type: "random:RandomString", properties: {length: -3}}
  c: {type: "random:RandomString", properties: {length: 4, minUpper: 5}}
  d: {type: "sim:index:Resource", properties: {properties: {x: "${c.result}"}}}
  e: {type: "sim:index:Resource", properties: {properties: {x: "${a.id}"}}}
  f: {type: "random:RandomString", properties: {length: 3}, options: {dependsOn: ["${e}"]}}
  g: {type: "random:RandomString", properties: {length: -1}, options: {dependsOn: ["${e}"]}}
`

func TestTheSameFailingPreviewIsTheSameTextInYAML(t *testing.T) {
	t.Parallel()
	p := newPreviews(t, "", failingInYAML)
	text := p.requireSameFailures()
	require.Contains(t, text, "not reached because of it: 1 resource (d)")
}

const failingInNode = `const pulumi = require("@pulumi/pulumi");
class Thing extends pulumi.CustomResource {
  constructor(name, properties, opts) {
    super("sim:index:Resource", name, { properties, computed: ["key"], replaceOn: [], values: undefined }, opts);
  }
}
class Site extends pulumi.ComponentResource {
  constructor(name, length, opts) {
    super("my:index:Site", name, {}, opts);
    const bad = new pulumi.CustomResource("random:index/randomString:RandomString", name + "-bad", { length }, { parent: this });
    new Thing(name + "-user", { of: bad.id }, { parent: this });
    new Thing(name + "-other", { x: 1 }, { parent: this });
  }
}
module.exports = async () => {
  await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(async (i) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    new Site("site" + i, i % 2 ? -i : i);
  }));
};
`

func TestTheSameFailingPreviewIsTheSameTextInNodeJS(t *testing.T) {
	tier.Slow(t, "Node.js")
	t.Parallel()
	text := newNodePreviews(t, failingInNode).requireSameFailures()
	require.Contains(t, text, "│  ├─ random:index:RandomString site1-bad   **failed**")
}

func TestTheSameFailingPreviewIsTheSameTextInGo(t *testing.T) {
	t.Parallel()
	p := newPreviews(t, "Pulumi.yaml", "name: shop\nruntime: {name: go, options: {binary: program}}\n")
	build(t, p.project+"/program", "./testdata/failing")
	text := p.requireSameFailures()
	require.Contains(t, text, "not reached because of it: 1 resource (user1)")
}

// requireSameFailures previews some times, with random latencies. Each preview must fail with the same text, which it returns.
func (p *previews) requireSameFailures() string {
	p.Helper()
	p.run("stack", "init", "dev")
	p.run("config", "set", "sim:latency", `{"*": "uniform 0ms 20ms"}`)
	p.run("config", "set", "sim:seed", "random")
	var first map[string]string
	for i := range compared {
		got, err := p.preview("--parallel", fmt.Sprint(1+i%4*5))
		require.Error(p, err)
		if i == 0 {
			first = got
		}
		for name, text := range got {
			require.Equal(p, first[name], text, "%s of preview %d", name, i)
		}
	}
	return first["text"]
}

// preview previews the stack. It returns the text for people and the reports, without times.
func (p *previews) preview(args ...string) (texts map[string]string, err error) {
	p.Helper()
	page := filepath.Join(p.dir, "report.html")
	reports := []string{"report.json", "report.md", "report.html"}
	args = append([]string{"preview", "--suppress-progress"}, args...)
	for _, name := range reports {
		args = append(args, "--report", filepath.Join(p.dir, name))
	}
	text, err := p.try(args...)
	texts = map[string]string{"text": strings.ReplaceAll(text, " and "+page, "")}
	for _, name := range reports {
		content, err := os.ReadFile(filepath.Join(p.dir, name))
		require.NoError(p, err, text)
		texts[name] = timeless(p.T, name, content)
	}
	return texts, err
}

func TestTheSamePreviewIsTheSameTextInNodeJS(t *testing.T) {
	tier.Slow(t, "Node.js")
	t.Parallel()
	requireSamePreviews(t, newNodePreviews(t, groupsInNode))
}

// newNodePreviews makes a project with a program in Node.js.
func newNodePreviews(t *testing.T, text string) *previews {
	modules, err := filepath.Abs("../../source/nodejs/testdata/program")
	require.NoError(t, err)
	require.NoError(t, nodesdk.Install(modules))
	p := newPreviews(t, "index.js", text)
	p.write("Pulumi.yaml", "name: shop\nruntime: {name: nodejs, options: {typescript: false}}\n") // the compiler costs as much as the program
	p.write("package.json", `{"main": "index.js"}`)
	require.NoError(t, os.Symlink(modules+"/node_modules", p.project+"/node_modules"))
	return p
}

func TestTheSamePreviewIsTheSameTextInPython(t *testing.T) {
	tier.Slow(t, "Python")
	t.Parallel()
	venv, err := pythonsdk.Install("../../source/python/testdata/program")
	require.NoError(t, err)
	p := newPreviews(t, "__main__.py", groupsInPython)
	p.write("Pulumi.yaml", "name: shop\nruntime: {name: python, options: {virtualenv: venv}}\n")
	require.NoError(t, os.Symlink(venv, p.project+"/venv"))
	requireSamePreviews(t, p)
}

// requireSamePreviews updates the stack, changes a setting, and requires that the previews of the change are the same.
func requireSamePreviews(t *testing.T, p *previews) {
	t.Helper()
	p.run("stack", "init", "dev")
	p.run("config", "set", "size", "8")
	p.run("config", "set", "sim:latency", `{"*": "uniform 0ms 20ms"}`)
	p.run("config", "set", "sim:seed", "random")
	p.run("up", "--yes", "--skip-preview")
	p.run("config", "set", "size", "9")
	text := p.requireSame()
	require.Contains(t, text, "c0")
	require.Contains(t, text, "a0 is deleted first (deleteBeforeReplace), and with it c0")
}

// previews are the previews of one stack.
type previews struct {
	*testing.T
	sluice, dir, project string
}

// newPreviews makes a project with one file, which is Pulumi.yaml if it has no name.
func newPreviews(t *testing.T, file, text string) *previews {
	dir := t.TempDir()
	p := &previews{T: t, sluice: dir + "/tools/sluice", dir: dir, project: dir + "/project"}
	linkSluice(t, p.sluice)
	require.NoError(t, os.MkdirAll(dir+"/backend", 0o755))
	require.NoError(t, os.MkdirAll(p.project, 0o755))
	if file == "" {
		file = "Pulumi.yaml"
	}
	p.write(file, text)
	return p
}

func (p *previews) write(name, text string) {
	require.NoError(p, os.WriteFile(filepath.Join(p.project, name), []byte(text), 0o644))
}

// run runs a command, which must succeed, and returns its output without times.
func (p *previews) run(args ...string) string {
	p.Helper()
	out, err := p.try(args...)
	require.NoError(p, err, "%v\n%s", args, out)
	return out
}

// try runs a command and returns its output.
func (p *previews) try(args ...string) (string, error) {
	cmd := exec.Command(p.sluice, append(args, "--non-interactive")...)
	cmd.Dir = p.project
	cmd.Env = append(os.Environ(), "PULUMI_HOME="+p.dir+"/home", "PULUMI_BACKEND_URL=file://"+p.dir+"/backend", "PULUMI_CONFIG_PASSPHRASE="+phrase, "PULUMI_STACK=",
		"HOME="+p.dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%w\n%s", err, errs.String())
	}
	return out.String(), nil
}

// requireSame previews twice in each form. It requires that the texts of a form are the same, and returns those for people.
//
// Each of the 26 groups of a program registers its resources in a random order of its own, so that a preview is 26 samples: a text that differs for one
// order of ten is overlooked in 1 of 170 runs. Samples of a larger program are cheaper than those of more previews, each of which costs the start of a
// program.
func (p *previews) requireSame() string {
	p.Helper()
	plan := filepath.Join(p.dir, "plan.json")
	var first map[string]string
	for range 2 {
		got, err := p.preview("--save-plan", plan)
		require.NoError(p, err)
		text, err := os.ReadFile(plan)
		require.NoError(p, err)
		got["plan.json"] = timeless(p.T, plan, text)
		got["diff"] = p.run("preview", "--suppress-progress", "--diff")
		got["json"] = timeless(p.T, "json", []byte(p.run("preview", "--json")))
		if first == nil {
			first = got
		}
		for name, text := range got {
			require.Equal(p, first[name], text, name)
		}
	}
	return first["text"]
}

// moment matches the times in reports.
var moment = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, [0-9.a-z ]+`)

// timeless returns the text of a file without times, and without the seeds of generated names, which are new in every plan.
func timeless(t *testing.T, name string, text []byte) string {
	if !strings.HasSuffix(name, "json") {
		return moment.ReplaceAllString(string(text), "")
	}
	var v any
	require.NoError(t, json.Unmarshal(text, &v))
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range []string{"time", "seed", "began", "ended", "duration"} {
				delete(v, key)
			}
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(v)
	out, err := json.MarshalIndent(v, "", " ")
	require.NoError(t, err)
	return string(out)
}
