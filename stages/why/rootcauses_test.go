package why

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func named(name string) urn.URN { return urn.URN("urn:pulumi:dev::p::t:m:T::" + name) }

// made makes a decision of a line like "web replace inputs <- network": a name, the step, the reason, and the causes.
func made(line string, changes ...Change) Decision {
	head, causes, _ := strings.Cut(line, " <- ")
	words := strings.Fields(head)
	d := Decision{URN: named(words[0]), Op: stages.Op(words[1]), Reason: stages.ReasonKind(words[2]), Properties: changes}
	for _, c := range strings.Fields(causes) {
		d.Causes = append(d.Causes, named(c))
	}
	for _, c := range changes {
		if c.Origin != FromResource {
			d.Roots = append(d.Roots, Root(c.Origin))
		}
	}
	if len(d.Roots)+len(d.Causes) == 0 {
		d.Roots = []Root{RootProgram}
	}
	return d
}

func edit(path, old, new, kind string) Change {
	return Change{Path: path, Kind: kind, Old: json.RawMessage(old), New: json.RawMessage(new), Origin: FromProgram}
}

func through(path, kind string) Change { return Change{Path: path, Kind: kind, Origin: FromResource} }

func logOf(decisions ...Decision) *Log { return &Log{Decisions: decisions, index: newIndex(decisions)} }

// told describes root causes, each in one line.
func told(causes []RootCause) []string {
	effects := func(list []Effect) string {
		var out []string
		for _, e := range list {
			names := make([]string, len(e.Resources))
			for i, u := range e.Resources {
				names[i] = u.Name()
			}
			out = append(out, string(e.Op)+" "+strings.Join(names, ","))
		}
		return strings.Join(out, "; ")
	}
	var out []string
	for _, c := range causes {
		what := string(c.Reason)
		for _, change := range c.Changes {
			what += fmt.Sprintf(" %s %s>%s", change.Path, change.Old, change.New)
		}
		out = append(out, fmt.Sprintf("%s %s: %s | %s | %s", c.Root, what, effects(c.Direct), effects(c.Following), strings.Join(c.Through, ",")))
	}
	return out
}

func TestRootCauses(t *testing.T) {
	region := edit("region", `"eu"`, `"us"`, "update-replace")
	setting := &Setting{Key: "p:region", Old: json.RawMessage(`"eu"`), New: json.RawMessage(`"us"`), Position: "Pulumi.dev.yaml:3"}
	configured := func(c Change) Change {
		c.Origin, c.Setting = FromConfiguration, setting
		return c
	}
	internal := func(d Decision) Decision {
		d.Internal = true
		return d
	}
	for name, test := range map[string]struct {
		decisions []Decision
		want      []string
	}{
		"nothing": {[]Decision{{URN: named("a"), Op: stages.OpSame, Reason: stages.ReasonUnchanged, Roots: []Root{RootNone}}}, nil},
		"a chain": {[]Decision{
			made("a replace inputs", region), made("b replace inputs <- a", through("up", "update-replace")), made("c update inputs <- b", through("list[3].up", "")),
		}, []string{`program inputs region "eu">"us": replace a | replace b; update c | list[*].up,up`}},
		"one edit of several resources": {[]Decision{made("a replace inputs", region), made("b replace inputs", region)},
			[]string{`program inputs region "eu">"us": replace a,b |  | `}},
		"the same edit does several things": {[]Decision{made("a update inputs", region), made("b replace inputs", region)},
			[]string{`program inputs region "eu">"us": replace b; update a |  | `}},
		"only what needs a replacement is its cause": {[]Decision{made("a replace inputs", edit("tags", "1", "2", "update"), region)},
			[]string{`program inputs region "eu">"us": replace a |  | `}},
		"a replacement that another resource needs follows from that, whatever else was edited": {[]Decision{
			made("a replace inputs", region), made("b replace inputs <- a", edit("tags", "1", "2", "update"), through("up", "update-replace")),
		}, []string{`program inputs region "eu">"us": replace a | replace b | up`}},
		"an edit of what follows is a cause of its own": {[]Decision{
			made("a replace inputs", region), made("b update inputs <- a", edit("tags", "1", "2", "update"), through("up", "update")),
			made("c update inputs <- b", through("up", "update")),
		}, []string{`program inputs region "eu">"us": replace a |  | `, `program inputs tags 1>2: update b | update c | up`}},
		"what follows from several belongs to the most dangerous": {[]Decision{
			made("a update inputs", edit("size", "1", "2", "update")), made("b replace inputs", region), made("c update inputs <- a b", through("up", "")),
		}, []string{`program inputs region "eu">"us": replace b | update c | up`, `program inputs size 1>2: update a |  | `}},
		"what follows may be more dangerous than what is direct": {[]Decision{
			made("a update inputs", edit("size", "1", "2", "update")), made("b update inputs", edit("x", "1", "2", "update")),
			made("c replace inputs <- b", through("up", "")), made("d update inputs", edit("size", "1", "2", "update")),
		}, []string{`program inputs x 1>2: update b | replace c | up`, `program inputs size 1>2: update a,d |  | `}},
		"few different values are told apart": {[]Decision{
			made("a update inputs", edit("size", "1", "2", "")), made("b update inputs", edit("size", "2", "3", "")),
		}, []string{`program inputs size 1>2: update a |  | `, `program inputs size 2>3: update b |  | `}},
		"many different values are one edit": {[]Decision{
			made("a update inputs", edit("size", "1", "2", "")), made("b update inputs", edit("size", "2", "3", "")),
			made("c update inputs", edit("size", "3", "4", "")), made("d update inputs", edit("size", "4", "5", "")),
		}, []string{`program inputs size >: update a,b,c,d |  | `}},
		"a setting is one cause, whatever is made of it": {[]Decision{
			made("a replace inputs", configured(region)), made("b update inputs", configured(edit("name", `"x-eu"`, `"x-us"`, "update"))),
		}, []string{`configuration inputs p:region "eu">"us": replace a; update b |  | `}},
		"what people do not know is not counted, but what follows from it": {[]Decision{
			internal(made("a replace inputs", configured(region))), made("b replace provider-changed <- a"),
		}, []string{`configuration inputs p:region "eu">"us":  | replace b | `}},
		"deleted first": {[]Decision{made("a replace inputs", region), made("b replace dependency-replaced <- a", through("up", ""))},
			[]string{`program inputs region "eu">"us": replace a | replace b | up`}},
		"a circle of causes ends": {[]Decision{
			made("a replace inputs", region), made("b update inputs <- a c", through("up", "")), made("c update inputs <- b", through("up", "")),
		}, []string{`program inputs region "eu">"us": replace a | update b,c | up`}},
		"without values": {[]Decision{made("a delete not-in-program"), made("b create new"), made("c create new"), made("d delete not-in-program <- a")},
			[]string{`program not-in-program: delete a | delete d | `, `program new: create b,c |  | `}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, told(logOf(test.decisions...).RootCauses()))
		})
	}
}

func TestRootCausesNameThePlacesOfEdits(t *testing.T) {
	first, second := edit("size", "1", "2", ""), edit("size", "1", "2", "")
	first.Position = "Pulumi.yaml:7"
	b := made("b update inputs", second)
	b.Position = "Pulumi.yaml:12"
	causes := logOf(made("a update inputs", first), b, made("c update inputs", first)).RootCauses()
	require.Len(t, causes, 1)
	require.Equal(t, []string{"Pulumi.yaml:12", "Pulumi.yaml:7"}, causes[0].Positions)
}

// Every decision that changes something belongs to exactly one root cause.
func TestRootCausesAddUp(t *testing.T) {
	causes := tall(1000).RootCauses()
	n := 0
	for _, c := range causes {
		n += Count(c.Direct) + Count(c.Following)
	}
	require.Equal(t, 1000, n)
}

// tall returns a log of n decisions: in each hundred, one was edited, and each of the others follows from the one before.
func tall(n int) *Log {
	var out []Decision
	for i := range n {
		name, before := fmt.Sprintf("r%06d", i), fmt.Sprintf("r%06d", i-1)
		if i%100 == 0 {
			out = append(out, made(name+" replace inputs", edit("region", `"eu"`, `"us"`, "update-replace")))
			continue
		}
		out = append(out, made(name+" replace inputs <- "+before, through("upstream", "update-replace")))
	}
	return logOf(out...)
}

func BenchmarkRootCauses(b *testing.B) {
	l := tall(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if len(l.RootCauses()) != 1 {
			b.Fatal("there is one root cause")
		}
	}
}
