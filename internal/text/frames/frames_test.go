package frames_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/text/frames"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

const typescript = `class Box extends ComponentResource {
  constructor(name: string, args: Args) {
    super("my:Box", name);
    new Thing(name + "-net", {
      region: args.region, // not region: "us"
      zone: "zone-" + args.zone,
      kind: "nett",
    });
    new Thing(name + "-disk", { size: args.size, ...more(args) });
  }
}
const size = 4;
new Box("one", {
  region: "us",
  zone: "b",
  tags: { a: "x", b: ["y", "z"] },
  size,
});
new Thing("alone", { count: 1_000, "max-age": 7,
  on: true });
`

func TestALineOfAPropertyIsInTheStatementThatGivesItsValue(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	write("index.ts", typescript)
	write("node_modules/lib/index.js", "new Thing({region: \"us\"})\n")
	write("__main__.py", `class Box(ComponentResource):
    def __init__(self, name, instance_type):
        Thing(name, instance_type=instance_type, # instance_type="large"
              note="""
              "large"
              """)


Box("one",
    instance_type="large")
`)
	write("main.go", `func main() {
	NewThing(ctx, "a", &ThingArgs{
		InstanceType: pulumi.String("large"),
	})
}

func newDisk(ctx *Context, name string, size int) {
	NewThing(ctx, name, &ThingArgs{
		Size: pulumi.Int(size),
	})
}
func all() {
	newDisk(ctx, "a", 3)
}
`)
	text, number := property.String, property.Number
	for name, c := range map[string]struct {
		frames   []string
		path     string
		old, new property.Value
		want     string
	}{
		"a literal of the caller":            {[]string{"index.ts#4,5", "index.ts#13,1"}, "p.region", text("eu"), text("us"), "index.ts:14"},
		"a literal in the component":         {[]string{"index.ts#4,5", "index.ts#13,1"}, "p.kind", text("net"), text("nett"), "index.ts:7"},
		"a part of the value":                {[]string{"index.ts#4,5", "index.ts#13,1"}, "p.zone", text("zone-a"), text("zone-b"), "index.ts:15"},
		"an edit of the component":           {[]string{"index.ts#4,5", "index.ts#13,1"}, "p.zone", text("z-b"), text("zone-b"), "index.ts:6"},
		"the short form of a property":       {[]string{"index.ts#9,5", "index.ts#13,1"}, "p.size", number(3), number(4), "index.ts:17"},
		"an item of a list":                  {[]string{"index.ts#13,1"}, "p.tags.b[1]", text("q"), text("z"), "index.ts:16"},
		"a number":                           {[]string{"index.ts#19,1"}, "count", number(1), number(1000), "index.ts:19"},
		"a quoted name":                      {[]string{"index.ts#19,1"}, `["max-age"]`, number(6), number(7), "index.ts:19"},
		"a boolean":                          {[]string{"index.ts#19,1"}, "on", property.Bool(false), property.Bool(true), "index.ts:20"},
		"no such name":                       {[]string{"index.ts#19,1"}, "off", property.Value{}, text("x"), ""},
		"the frames of a package":            {[]string{"node_modules/lib/index.js#1,1", "index.ts#13,1"}, "region", text("eu"), text("us"), "index.ts:14"},
		"a file that is not there":           {[]string{"gone.ts#1,1"}, "region", text("eu"), text("us"), ""},
		"a file outside of the project":      {[]string{"../index.ts#13,1"}, "region", text("eu"), text("us"), ""},
		"a line after the end":               {[]string{"index.ts#500,1"}, "region", text("eu"), text("us"), ""},
		"Python, with another form of names": {[]string{"__main__.py#3", "__main__.py#9"}, "instanceType", text("small"), text("large"), "__main__.py:10"},
		"Go, with a function around a value": {[]string{"main.go#2"}, "instanceType", text("small"), text("large"), "main.go:3"},
		"an argument without a name":         {[]string{"main.go#8", "main.go#13"}, "size", number(1), number(3), "main.go:13"},
		"no frames":                          {nil, "region", text("eu"), text("us"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := property.ParsePath(c.path)
			require.NoError(t, err)
			var stack []state.StackFrame
			for _, at := range c.frames {
				stack = append(stack, state.StackFrame{SourcePosition: "project:///" + at}, state.StackFrame{})
			}
			got, found := frames.Open(root).Line(stack, frames.Change{Path: path, Old: c.old, New: c.new})
			require.Equal(t, c.want != "", found)
			if found {
				require.Equal(t, c.want, got)
			}
		})
	}
}

func TestAResourceIsDeclaredInTheStatementThatMakesItAndNotInAConstructorOfABaseClass(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "index.ts"), []byte(typescript), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "main.go"), []byte(`func NewBox(ctx *pulumi.Context, name string) error {
	err := ctx.RegisterComponentResource("my:index:Box", name, box)
	_, err = NewThing(ctx, name+"-thing")
	return err
}
func main() {
	NewBox(ctx, "one")
}
`), 0o644))
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"a component":                   {[]string{"index.ts#3", "index.ts#13"}, "index.ts:13"},
		"a resource in a component":     {[]string{"index.ts#4", "index.ts#13"}, "index.ts:4"},
		"only its base class":           {[]string{"index.ts#3"}, "index.ts:3"},
		"a component of Go":             {[]string{"main.go#2", "main.go#7"}, "main.go:7"},
		"a resource in one of Go":       {[]string{"main.go#3", "main.go#7"}, "main.go:3"},
		"a file of a package is passed": {[]string{"node_modules/lib/index.js#1", "index.ts#19"}, "index.ts:19"},
		"no frames":                     {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var stack []state.StackFrame
			for _, at := range c.frames {
				stack = append(stack, state.StackFrame{SourcePosition: "project:///" + at})
			}
			got, found := frames.Open(root).Declaration(stack)
			require.Equal(t, c.want, got)
			require.Equal(t, c.want != "", found)
		})
	}
}

func FuzzLine(f *testing.F) {
	f.Add(typescript, "index.ts")
	f.Add("Thing(\n  a=\"\"\"b\n", "main.py")
	f.Fuzz(func(t *testing.T, text, name string) {
		root := t.TempDir()
		if !filepath.IsLocal(name) || os.WriteFile(filepath.Join(root, filepath.Base(name)), []byte(text), 0o644) != nil {
			return
		}
		at := state.StackFrame{SourcePosition: "project:///" + filepath.Base(name) + "#1"}
		frames.Open(root).Line([]state.StackFrame{at}, frames.Change{Path: property.Path{property.Key("a")}, New: property.String("b")})
	})
}
