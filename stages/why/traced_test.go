package why_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// originsOf returns the origins of the changes of the input "tags", as "place: origin of resources". The resource depends on "net",
// which is replaced.
func originsOf(t *testing.T, known why.Known, was, is property.Value, netWas, netIs map[string]any) (origins []string, causes int) {
	t.Helper()
	named := func(name string) urn.URN { return urn.New("dev", "shop", "", "t:m:T", name) }
	of := func(name, id string, inputs map[string]property.Value, outputs map[string]any) *state.Resource {
		return &state.Resource{URN: named(name), Type: named(name).Type(), ID: id, Custom: true, Inputs: property.NewMap(inputs), Outputs: valueOf(t, outputs).AsMap()}
	}
	id := "net-2"
	if _, known := netIs["address"]; !known {
		id = ""
	}
	net := stages.StepInfo{
		Op: stages.OpCreateReplacement, URN: named("net"), Type: "t:m:T", Old: of("net", "net-1", nil, netWas), New: of("net", id, nil, netIs),
		Reason: stages.Reason{Kind: stages.ReasonRequested},
	}
	web := stages.StepInfo{
		Op: stages.OpUpdate, URN: named("web"), Type: "t:m:T",
		Old: of("web", "web-1", map[string]property.Value{"tags": was}, nil), New: of("web", "web-1", map[string]property.Value{"tags": is}, nil),
		Reason: stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"tags"}, By: stages.ByDiff},
	}
	web.New.PropertyDependencies = map[string][]urn.URN{"tags": {net.URN}}
	web.Old.PropertyDependencies = web.New.PropertyDependencies
	log := why.New(why.About{}, []stages.Decided{{StepInfo: &net, Wanted: net.New}, {StepInfo: &web, Wanted: web.New}}, known)
	d := log.Why(web.URN).Links[0].Decision
	for _, c := range d.Properties {
		text := c.Place() + ": " + string(c.Origin)
		for _, u := range c.From {
			text += " " + u.Name()
		}
		origins = append(origins, text)
	}
	return origins, len(log.RootCauses())
}

func TestAnEditBesideAValueOfAnotherResourceIsSeen(t *testing.T) {
	unknown := property.Computed()
	before := map[string]any{"address": "10.0.0.1"}
	after := map[string]any{"address": "10.0.0.2"}
	tags := func(a, b any) property.Value { return valueOf(t, map[string]any{"a": a, "b": b}) }
	for about, c := range map[string]struct {
		was, is property.Value
		after   map[string]any
		want    []string
		causes  int
	}{
		"a preview": {
			tags("net-1", "x"), property.Of(property.NewMap(map[string]property.Value{"a": unknown, "b": property.String("y")})), nil,
			[]string{"tags.a: resource net", "tags.b: program"}, 2,
		},
		"a preview, and only the edit is left": {tags("net-1", "x"), tags("net-1", "y"), nil, []string{"tags.b: program"}, 2},
		"an update":                            {tags("net-1", "x"), tags("net-2", "y"), after, []string{"tags.a: resource net", "tags.b: program net"}, 2},
		"a part of a text":                     {tags("net-1", "at 10.0.0.1"), tags("net-2", "at 10.0.0.2"), after, []string{"tags.a: resource net", "tags.b: resource net"}, 1},
		"nothing explains the dependency":      {tags("3c59", "x"), tags("b6d7", "y"), after, []string{"tags.a: resource net", "tags.b: resource net"}, 1},
		"a document": {
			property.String(`{"a":"net-1","b":"x"}`), property.String(`{"a":"net-2","b":"y"}`), after,
			[]string{"tags (JSON) a: resource net", "tags (JSON) b: program net"}, 2,
		},
		"a property that is one value": {property.String("x"), property.String("y"), after, []string{"tags: resource net"}, 1},
	} {
		t.Run(about, func(t *testing.T) {
			got, causes := originsOf(t, why.Known{}, c.was, c.is, before, c.after)
			require.Equal(t, c.want, got)
			require.Equal(t, c.causes, causes)
		})
	}
}

func TestASettingIsSeenBesideAResourceThatUsesItToo(t *testing.T) {
	env := []why.ChangedSetting{{Key: "shop:env", Old: "test", New: "prod"}}
	used := func(settings ...string) why.Known {
		return why.Known{Settings: func() []why.ChangedSetting { return env }, Locate: func(_ urn.URN, at property.Path) (stages.Place, bool) {
			if at.String() == "tags.b" {
				return stages.Place{Position: "Pulumi.yaml:9", Settings: settings}, true
			}
			return stages.Place{}, true
		}}
	}
	sdk := why.Known{Settings: func() []why.ChangedSetting { return env }}
	before, after := map[string]any{"address": "10.0.0.1", "env": "test"}, map[string]any{"address": "10.0.0.2", "env": "prod"}
	planned := map[string]any{"env": "prod"}
	tags := func(a property.Value, b string) property.Value {
		return property.Of(property.NewMap(map[string]property.Value{"a": a, "b": property.String(b)}))
	}
	was, unknown, is := property.String("10.0.0.1"), property.Computed(), property.String("10.0.0.2")
	for about, c := range map[string]struct {
		known  why.Known
		a      property.Value
		b, is  string
		net    map[string]any
		want   []string
		causes int
	}{
		"a preview":                      {used("shop:env"), unknown, "test", "prod", planned, []string{"tags.a: resource net", "tags.b: configuration"}, 2},
		"an update":                      {used("shop:env"), is, "test", "prod", after, []string{"tags.a: resource net", "tags.b: configuration"}, 2},
		"a part of a text":               {used("shop:env"), unknown, "test-web", "prod-web", planned, []string{"tags.a: resource net", "tags.b: configuration"}, 2},
		"with the other value":           {used("shop:env"), is, "test 10.0.0.1", "prod 10.0.0.2", after, []string{"tags.a: resource net", "tags.b: resource net"}, 1},
		"the program does not use it":    {used(), unknown, "test", "prod", planned, []string{"tags.a: resource net", "tags.b: resource net"}, 1},
		"nobody knows what programs use": {sdk, unknown, "test", "prod", planned, []string{"tags.a: resource net", "tags.b: configuration"}, 2},
		"nobody knows, a part of a text": {sdk, unknown, "test-web", "prod-web", planned, []string{"tags.a: resource net", "tags.b: resource net"}, 1},
	} {
		t.Run(about, func(t *testing.T) {
			got, causes := originsOf(t, c.known, tags(was, c.b), tags(c.a, c.is), before, c.net)
			require.Equal(t, c.want, got)
			require.Equal(t, c.causes, causes)
		})
	}
}

func valueOf(t *testing.T, v any) property.Value {
	t.Helper()
	value, err := property.FromGo(v)
	require.NoError(t, err)
	return value
}
