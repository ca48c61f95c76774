// Command goprogram is the Go program of the end-to-end tests. The setting "scenario" selects what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

type thing struct {
	pulumi.CustomResourceState
	Value pulumi.AnyOutput    `pulumi:"value"`
	Arn   pulumi.StringOutput `pulumi:"arn"`
}

func newThing(ctx *pulumi.Context, name string, args pulumi.Map, options ...pulumi.ResourceOption) (*thing, error) {
	var t thing
	return &t, ctx.RegisterResource("simple:index:Thing", name, args, &t, options...)
}

type group struct {
	pulumi.ResourceState
}

type simpleProvider struct {
	pulumi.ProviderResourceState
}

// settings are the project's.
type settings struct{ ctx *pulumi.Context }

func (s settings) Get(name string) string {
	v, _ := s.ctx.GetConfig("demo:" + name)
	return v
}

func (s settings) GetInt(name string) int {
	n, _ := strconv.Atoi(s.Get(name)) // 0 if it is not set
	return n
}

func (s settings) RequireSecret(name string) pulumi.StringOutput {
	return pulumi.ToSecret(s.Get(name)).(pulumi.StringOutput)
}

var scenarios = map[string]func(*pulumi.Context, settings) error{
	"shop": shop, "many": many, "empty": empty, "big": big, "dies": dies, "names": names, "fails": fails, "options": options,
	"flags": flags, "churn": churn, "callbacks": callbacks, "components": components, "reference": reference,
	"complains": complains, "migrates": migrates,
}

// complains logs an error and goes on.
func complains(ctx *pulumi.Context, _ settings) error {
	if err := ctx.Log.Error("the quota is nearly used up", nil); err != nil {
		return err
	}
	_, err := newThing(ctx, "a", nil)
	return err
}

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		c := settings{ctx}
		scenario, ok := scenarios[c.Get("scenario")]
		if !ok {
			return errors.New("no such scenario")
		}
		return scenario(ctx, c)
	})
}

func empty(*pulumi.Context, settings) error { return nil }

// shop declares resources that depend on one another, a component, a secret and an explicit provider.
func shop(ctx *pulumi.Context, c settings) error {
	network, err := newThing(ctx, "network", pulumi.Map{"immutableRegion": pulumi.String(c.Get("region")), "size": pulumi.Int(c.GetInt("size"))})
	if err != nil {
		return err
	}
	var g group
	if err := ctx.RegisterComponentResource("shop:index:Group", "group", &g); err != nil {
		return err
	}
	database, err := newThing(ctx, "database", pulumi.Map{
		"network": network.ID(), "password": c.RequireSecret("password"),
	}, pulumi.Parent(&g))
	if err != nil {
		return err
	}
	if err := ctx.RegisterResourceOutputs(&g, pulumi.Map{"arn": database.Arn}); err != nil {
		return err
	}
	var p simpleProvider
	if err := ctx.RegisterResource("pulumi:providers:simple", "explicit", pulumi.Map{"directory": pulumi.String(c.Get("directory"))}, &p); err != nil {
		return err
	}
	if _, err := newThing(ctx, "elsewhere", pulumi.Map{}, pulumi.Provider(&p), pulumi.DependsOn([]pulumi.Resource{database})); err != nil {
		return err
	}
	if err := exportEcho(ctx); err != nil {
		return err
	}
	ctx.Export("arn", database.Arn)
	ctx.Export("password", c.RequireSecret("password"))
	return nil
}

// options declares resources whose options the settings choose.
func options(ctx *pulumi.Context, c settings) error {
	value := pulumi.Map{"value": pulumi.Int(c.GetInt("size")), "dbrZone": pulumi.String(c.Get("zone"))}
	first, err := newThing(ctx, "first", value, pulumi.IgnoreChanges([]string{"value"}), pulumi.Protect(c.Get("protect") == "true"))
	if err != nil {
		return err
	}
	name, renamed := "second", c.Get("renamed")
	var aliases []pulumi.ResourceOption
	if renamed != "" {
		name, aliases = renamed, []pulumi.ResourceOption{pulumi.Aliases([]pulumi.Alias{{Name: pulumi.String("second")}})}
	}
	second, err := newThing(ctx, name, pulumi.Map{"immutableZone": pulumi.String(c.Get("zone"))},
		append(aliases, pulumi.DeleteBeforeReplace(true), pulumi.DependsOn([]pulumi.Resource{first}))...)
	if err != nil {
		return err
	}
	_, err = newThing(ctx, "third", pulumi.Map{"immutableUses": second.Arn})
	return err
}

// migrates declares a thing in a group, with a state migration that gives the things of the group the name of today.
func migrates(ctx *pulumi.Context, c settings) error {
	var g group
	fmt.Println("good morning")
	name := c.Get("name")
	rename := func(_ context.Context, args *pulumi.StateMigrationArgs) (*pulumi.StateMigrationResult, error) {
		if c.Get("refuse") != "" {
			return nil, errors.New("the migration refuses")
		}
		successors := map[string]string{}
		for _, state := range args.OldState {
			if was := state["urn"].(string); strings.Contains(was, "$simple:index:Thing::") && !strings.HasSuffix(was, "::"+name) {
				state["urn"] = was[:strings.LastIndex(was, "::")+2] + name
				successors[was] = state["urn"].(string)
			}
		}
		if len(successors) == 0 {
			return nil, nil
		}
		return &pulumi.StateMigrationResult{NewState: args.OldState, Successors: successors}, nil
	}
	if _, err := newThing(ctx, "first", pulumi.Map{"value": pulumi.Int(c.GetInt("size"))}); err != nil {
		return err
	}
	if err := ctx.RegisterComponentResource("demo:index:Group", "shop", &g, pulumi.StateMigrations([]pulumi.StateMigration{rename})); err != nil {
		return err
	}
	t, err := newThing(ctx, name, pulumi.Map{"value": pulumi.ToSecret(pulumi.String("hush"))}, pulumi.Parent(&g))
	if err != nil {
		return err
	}
	if _, err = newThing(ctx, "user", pulumi.Map{"value": t.Arn}); err != nil {
		return err
	}
	ctx.Export("arn", t.Arn)
	return nil
}

// flags declares a resource whose differences are hidden, with a provider that gets a variable under another name.
func flags(ctx *pulumi.Context, c settings) error {
	var p simpleProvider
	err := ctx.RegisterResource("pulumi:providers:simple", "explicit", pulumi.Map{"directory": pulumi.String(c.Get("directory"))}, &p,
		pulumi.EnvVarMappings(map[string]string{"LICENCE": "SIMPLE_EXIT"}))
	if err != nil {
		return err
	}
	_, err = newThing(ctx, "quiet", pulumi.Map{"value": pulumi.Int(c.GetInt("size")), "other": pulumi.Int(c.GetInt("size"))},
		pulumi.Provider(&p), pulumi.HideDiffs([]string{"value"}))
	return err
}

// many declares count resources with the numbers from first on.
func many(ctx *pulumi.Context, c settings) error {
	first := c.GetInt("first")
	for i := first; i < first+c.GetInt("count"); i++ {
		if _, err := newThing(ctx, fmt.Sprintf("thing-%d", i), pulumi.Map{"value": pulumi.Int(i + c.GetInt("more"))}); err != nil {
			return err
		}
	}
	return nil
}

// churn declares count resources with the numbers from first on. A change of the setting more updates them. Of six, one is
// replaced when the setting zone changes, one is deleted and replaced when the setting site changes, and one is replaced with
// that one. For each registered resource it appends a line "<URN> <ID>" to the file in ACKNOWLEDGED.
func churn(ctx *pulumi.Context, c settings) error {
	first, before := c.GetInt("first"), pulumi.StringOutput{}
	for i := first; i < first+c.GetInt("count"); i++ {
		inputs := pulumi.Map{"value": pulumi.Int(i + c.GetInt("more"))}
		switch kind := i % 6; {
		case kind == 1:
			inputs["immutableZone"] = pulumi.String(c.Get("zone"))
		case kind == 2:
			inputs["dbrSite"] = pulumi.String(c.Get("site"))
		case kind == 3 && i > first:
			inputs["immutableUses"] = before
		case kind == 4 && i > first:
			inputs["uses"] = before
		}
		t, err := newThing(ctx, fmt.Sprintf("thing-%d", i), inputs)
		if err != nil {
			return err
		}
		before = t.Arn
		pulumi.All(t.URN(), t.ID()).ApplyT(func(both []any) (int, error) {
			return 0, acknowledge(fmt.Sprintf("%v %v\n", both[0], both[1]))
		})
	}
	ctx.Export("round", pulumi.Int(c.GetInt("round")))
	return nil
}

// acknowledge appends a line with one write, so that a kill does not cut it.
func acknowledge(line string) error {
	file, err := os.OpenFile(os.Getenv("ACKNOWLEDGED"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line)
	return errors.Join(err, file.Close())
}

// big declares one resource with a long text, or the number in the setting "count", and exports its length.
func big(ctx *pulumi.Context, c settings) error {
	text := pulumi.String(strings.Repeat("0123456789", c.GetInt("megabytes")*100_000))
	if n := c.GetInt("count"); n > 0 {
		for i := range n {
			if _, err := newThing(ctx, fmt.Sprintf("big%d", i), pulumi.Map{"value": text}); err != nil {
				return err
			}
		}
		return nil
	}
	t, err := newThing(ctx, "big", pulumi.Map{"value": text})
	if err != nil {
		return err
	}
	ctx.Export("length", t.Value.ApplyT(func(v any) int { return len(v.(string)) }))
	return nil
}

// names declares resources with unusual names.
func names(ctx *pulumi.Context, _ settings) error {
	for _, name := range []string{
		"with space", "with::colons", "with$dollar", "über-größe", "日本語", "😀", "a/b/../c", `quote"back\slash`, "new\nline",
		"-dash", "percent%s%d", "<html>&amp;", "\x1b[31mred", strings.Repeat("long", 50),
	} {
		if _, err := newThing(ctx, name, pulumi.Map{"value": pulumi.String(name), name: pulumi.String("key")}); err != nil {
			return err
		}
	}
	return nil
}

// dies exits in the middle, when the first resource exists.
func dies(ctx *pulumi.Context, _ settings) error {
	t, err := newThing(ctx, "first", pulumi.Map{})
	if err != nil {
		return err
	}
	t.ID().ApplyT(func(pulumi.ID) int {
		fmt.Fprintln(os.Stderr, "these are the last words")
		os.Exit(9)
		return 0
	})
	_, err = newThing(ctx, "second", pulumi.Map{"value": t.Arn})
	return err
}

func fails(ctx *pulumi.Context, _ settings) error {
	for _, name := range []string{"first", "second"} {
		if _, err := newThing(ctx, name, pulumi.Map{}); err != nil {
			return err
		}
	}
	return errors.New("the program has had enough")
}

// exportEcho calls a function and exports its result.
func exportEcho(ctx *pulumi.Context) error {
	var echoed struct {
		Echo string `pulumi:"echo"`
	}
	if err := ctx.Invoke("simple:index:echo", map[string]any{"echo": "back"}, &echoed); err != nil {
		return err
	}
	ctx.Export("echo", pulumi.String(echoed.Echo))
	return nil
}
