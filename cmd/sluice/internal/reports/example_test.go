package reports_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/reports"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

var start = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

const hostile = "</script><script>alert(1)</script>\u202egnp.exe\x1b[31m`"

func named(typ, name string) urn.URN { return urn.New("dev", "shop", "", urn.Type(typ), name) }

var stack = named("pulumi:pulumi:Stack", "shop-dev")

func resource(name string, inputs map[string]any, deps ...urn.URN) *state.Resource {
	values, err := property.FromGo(inputs)
	if err != nil {
		panic(err)
	}
	return &state.Resource{
		URN: named("aws:s3/bucket:Bucket", name), Type: "aws:s3/bucket:Bucket", Custom: true, Parent: stack, ID: "id-" + name,
		Inputs: values.AsMap(), Dependencies: deps, SourcePosition: "project:///index.ts#14,3",
	}
}

func step(op stages.Op, old, new *state.Resource, reason stages.Reason) stages.StepInfo {
	s := stages.StepInfo{Op: op, Old: old, New: new, Reason: reason}
	if new != nil {
		s.URN, s.Type = new.URN, new.Type
	} else {
		s.URN, s.Type = old.URN, old.Type
	}
	return s
}

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

// taken returns the events of a step.
func taken(s stages.StepInfo, from, to float64) []stages.Event {
	return []stages.Event{stages.StepStarted{Step: s, At: at(from)}, stages.StepDone{Step: s, At: at(to)}}
}

// events are those of an update with all kinds of steps.
func events() []stages.Event {
	component := &state.Resource{URN: stack, Type: "pulumi:pulumi:Stack", Outputs: property.NewMap(map[string]property.Value{
		"password": property.Secret(property.String("hunter2")), "url": property.String("http://new"),
	})}
	netOld, netNew := resource("net", map[string]any{"region": "eu", "tags": map[string]any{"a": "1"}}),
		resource("net", map[string]any{"region": "us", "tags": map[string]any{"a": "2"}})
	netNew.Inputs = netNew.Inputs.With("key", property.Secret(property.String("hunter2")))
	replace := stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"region"}, By: stages.ByDiff}
	create, remove, whole := step(stages.OpCreateReplacement, netOld, netNew, replace), step(stages.OpDeleteReplaced, netOld, nil, stages.Reason{Kind: stages.ReasonReplaced}),
		step(stages.OpReplace, netOld, netNew, replace)
	for _, s := range []*stages.StepInfo{&create, &whole} {
		s.Keys, s.DetailedDiff = []string{"region"}, map[string]providers.PropertyDiff{
			"region": {Kind: providers.DiffUpdateReplace}, "tags.a": {Kind: providers.DiffUpdate}, "key": {Kind: providers.DiffAdd},
		}
	}
	web := step(stages.OpUpdate, resource("web", map[string]any{"text": "one\ntwo\n"}), resource("web", map[string]any{"text": "one\n```\n" + hostile}, netNew.URN),
		stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"text"}, By: stages.ByDiff})
	bad := step(stages.OpCreate, nil, resource(hostile, map[string]any{"a": strings.Repeat("x", 5000)}, web.URN), stages.Reason{Kind: stages.ReasonNew})
	old := step(stages.OpDelete, resource("old", map[string]any{"size": 1.0}), nil, stages.Reason{Kind: stages.ReasonNotInProgram})
	same := step(stages.OpSame, resource("calm", nil), resource("calm", nil), stages.Reason{Kind: stages.ReasonUnchanged})
	var out []stages.Event
	add := func(es ...stages.Event) { out = append(out, es...) }
	add(stages.Prelude{Operation: "update"})
	add(taken(step(stages.OpSame, component, component, stages.Reason{Kind: stages.ReasonUnchanged}), 0, 0)...)
	add(taken(same, 0.1, 0.1)...)
	add(taken(create, 1, 3)...)
	add(taken(whole, 3, 3)...)
	add(taken(web, 3.5, 4)...)
	add(stages.StepStarted{Step: bad, At: at(4)}, stages.StepFailed{Step: bad, At: at(6), Err: errors.New("no quota " + hostile)})
	add(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Error, URN: bad.URN, Message: "no quota " + hostile}})
	add(stages.Diagnostic{LogMessage: stages.LogMessage{Severity: stages.Warning, Message: "mind the gap"}})
	add(taken(remove, 7, 8)...)
	add(taken(old, 7, 9)...)
	add(stages.PolicyViolation{Policy: stages.PolicyName{Pack: "rules", Version: "1", Name: "named"}, URN: web.URN, Message: "needs a name", Level: stages.Advisory})
	add(stages.Summary{
		Result: stages.Failed, Duration: 9 * time.Second, Changes: map[stages.Op]int{"same": 2, "replace": 1, "update": 1, "delete": 1},
		Outputs: component.Outputs, OldOutputs: property.NewMap(map[string]property.Value{"url": property.String("http://old")}),
	}, stages.Ended{})
	return out
}

// decisions returns the log of `sluice why` about it.
func decisions() *why.Log {
	return &why.Log{Decisions: []why.Decision{
		{URN: named("aws:s3/bucket:Bucket", "net"), Op: stages.OpReplace, Reason: stages.ReasonInputs, Names: []string{"region"}, Roots: []why.Root{why.RootProgram}},
		{URN: named("aws:s3/bucket:Bucket", "web"), Op: stages.OpUpdate, Reason: stages.ReasonInputs, Names: []string{"text"}, Causes: []urn.URN{named("aws:s3/bucket:Bucket", "net")},
			Properties: []why.Change{{Path: "text", Origin: why.FromResource, From: []urn.URN{named("aws:s3/bucket:Bucket", "net")}}}},
		{URN: named("aws:s3/bucket:Bucket", "last"), Op: stages.OpCreate, Reason: stages.ReasonNew, Fate: stages.FateSkipped, FailedDependency: named("aws:s3/bucket:Bucket", hostile)},
		{URN: named("aws:s3/bucket:Bucket", "later"), Op: stages.OpCreate, Reason: stages.ReasonNew, Fate: stages.FateNotReached},
	}}
}

func options() reports.Options {
	return reports.Options{
		Operation: reports.Operation{Kind: "update", Project: "shop", Stack: "dev", Began: start, Message: "ship it @everyone"},
		Limits:    reports.DefaultLimits(),
	}
}

// built returns the report of the update.
func built() *reports.Document {
	b := reports.NewBuilder(options())
	for _, e := range events() {
		b.Observe(e)
	}
	return b.Document(display.Ending{Log: decisions(), Failed: "update"}, at(10))
}

// large returns the report of an update of many resources, in components of a hundred.
func large(n int) *reports.Document {
	b := reports.NewBuilder(options())
	for i := range n {
		parent := urn.New("dev", "shop", "", "shop:index:Group", fmt.Sprintf("g%d", i/100))
		if i%100 == 0 {
			group := &state.Resource{URN: parent, Type: "shop:index:Group", Parent: stack}
			for _, e := range taken(step(stages.OpCreate, nil, group, stages.Reason{Kind: stages.ReasonNew}), 0, 0) {
				b.Observe(e)
			}
		}
		var deps []urn.URN
		if i%100 > 0 {
			deps = append(deps, named("aws:s3/bucket:Bucket", fmt.Sprintf("r%d", i-1)))
		}
		was, is := resource(fmt.Sprintf("r%d", i), map[string]any{"size": 1.0, "region": "eu"}), resource(fmt.Sprintf("r%d", i), map[string]any{"size": float64(i), "region": "us"}, deps...)
		was.Parent, is.Parent = parent, parent
		op := []stages.Op{stages.OpUpdate, stages.OpCreate, stages.OpSame, stages.OpReplace, stages.OpDelete}[i%5]
		s := step(op, was, is, stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"region", "size"}, By: stages.ByDiff})
		if op == stages.OpSame {
			s.Old = is
		}
		if op == stages.OpDelete {
			s.New = nil
		}
		for _, e := range taken(s, float64(i%100), float64(i%100)+0.9) {
			b.Observe(e)
		}
	}
	b.Observe(stages.Summary{Result: stages.Succeeded, Changes: map[stages.Op]int{"update": n / 5, "create": n / 5, "same": n / 5, "replace": n / 5, "delete": n / 5}})
	return b.Document(display.Ending{}, at(101))
}
