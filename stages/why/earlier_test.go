package why_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// TestAValueOfAnEarlierOperationIsNoEdit has "web", whose input "address" depends on "net". An earlier operation replaced "net", and did not reach "web".
func TestAValueOfAnEarlierOperationIsNoEdit(t *testing.T) {
	before, after := time.Unix(1, 0), time.Unix(2, 0)
	for about, c := range map[string]struct {
		was, is   any
		modified  time.Time // of net; web was modified before
		unrelated bool      // the recorded input does not depend on net
		component bool      // web depends on a component, which contains net
		setting   string    // the new value of a changed setting
		want      why.Origin
	}{
		"the whole value":             {was: "net-1", is: "net-2", modified: after, want: why.FromEarlier},
		"part of a text":              {was: "http://net-1/", is: "http://net-2/", modified: after, want: why.FromEarlier},
		"beside another output":       {was: "core/net-1", is: "core/net-2", modified: after, want: why.FromEarlier},
		"in a component":              {was: "net-1", is: "net-2", modified: after, component: true, want: why.FromEarlier},
		"not changed since":           {was: "net-1", is: "net-2", modified: before, want: why.FromProgram},
		"not known when":              {was: "net-1", is: "net-2", want: why.FromProgram},
		"not what it came from":       {was: "net-1", is: "net-2", modified: after, unrelated: true, want: why.FromProgram},
		"another text":                {was: "net-1", is: "10.0.0.1", modified: after, want: why.FromProgram},
		"an edit beside the output":   {was: "net-2/a", is: "net-2/b", modified: after, want: why.FromProgram},
		"another output":              {was: "core", is: "net-2", modified: after, want: why.FromProgram},
		"a setting that is an output": {was: "eu", is: "core", modified: after, setting: "core", want: why.FromConfiguration},
	} {
		t.Run(about, func(t *testing.T) {
			of := func(name string, inputs, outputs map[string]any) *state.Resource {
				u := urn.New("dev", "shop", "", "t:m:T", name)
				return &state.Resource{URN: u, Type: u.Type(), ID: name, Custom: true, Inputs: valueOf(t, inputs).AsMap(), Outputs: valueOf(t, outputs).AsMap(), Modified: before}
			}
			same := func(s *state.Resource) stages.Decided {
				return stages.Decided{Wanted: s, StepInfo: &stages.StepInfo{
					Op: stages.OpSame, URN: s.URN, Type: s.Type, Old: s, New: s, Reason: stages.Reason{Kind: stages.ReasonUnchanged},
				}}
			}
			part, net := of("part", nil, nil), of("net", nil, map[string]any{"address": "net-2", "name": "core"})
			part.Custom, net.Modified = false, c.modified
			was, is := of("web", map[string]any{"address": c.was}, nil), of("web", map[string]any{"address": c.is}, nil)
			dependency := net.URN
			if c.component {
				net.Parent, dependency = part.URN, part.URN
			}
			is.PropertyDependencies = map[string][]urn.URN{"address": {dependency}}
			if !c.unrelated {
				was.PropertyDependencies = is.PropertyDependencies
			}
			update := stages.Decided{Wanted: is, StepInfo: &stages.StepInfo{
				Op: stages.OpUpdate, URN: is.URN, Type: is.Type, Old: was, New: is,
				Reason: stages.Reason{Kind: stages.ReasonInputs, Properties: []string{"address"}, By: stages.ByDiff},
			}}
			known := why.Known{
				Settings: func() []why.ChangedSetting {
					return []why.ChangedSetting{{Key: "shop:name", Old: "eu", New: c.setting}}
				},
				Locate: func(urn.URN, property.Path) (stages.Place, bool) {
					if c.setting == "" {
						return stages.Place{}, true
					}
					return stages.Place{Settings: []string{"shop:name"}}, true
				},
			}
			d := why.New(why.About{}, []stages.Decided{same(part), same(net), update}, known).Why(is.URN).Links[0].Decision
			require.Equal(t, c.want, d.Properties[0].Origin)
			if c.want != why.FromEarlier {
				require.Empty(t, d.Properties[0].From)
				return
			}
			require.Equal(t, []urn.URN{net.URN}, d.Properties[0].From)
			require.Equal(t, []why.Root{why.RootRecord}, d.Roots)
			require.Empty(t, d.Causes)
		})
	}
}
