package rules

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// A change of a default provider is internal to the engine, unless a setting of its recorded configuration is removed (decision 0178).
func TestASettingThatIsGoneIsAChangeOfTheDefaultProvider(t *testing.T) {
	k := newKit(t)
	p := program(func(s *script) { s.thing("a", nil) })
	k.options.Config = sluice.Config{"test:region": {Text: "eu"}, "test:zone": {Text: "a"}, "other:region": {Text: "us"}}
	k.up(p)
	require.Equal(t, values(in{"region": "eu", "zone": "a"}), k.recorded("default").Inputs)

	k.options.Config = sluice.Config{"test:region": {Text: "us"}, "test:zone": {Text: "a"}, "test:more": {Text: "x"}}
	k.preview(p).requireCounts(map[stages.Op]int{stages.OpSame: 1})

	k.options.Config = sluice.Config{"test:region": {Text: "us"}}
	r := k.preview(p)
	r.requireCounts(map[stages.Op]int{stages.OpSame: 1, stages.OpUpdate: 1})
	require.Equal(t, []string{"region", "zone"}, r.step(stages.OpUpdate, "default").Diffs)
	k.up(p)
	require.Equal(t, values(in{"region": "us"}), k.recorded("default").Inputs)
	k.preview(p).requireCounts(map[stages.Op]int{stages.OpSame: 1})
}

// The providers of dynamic resources get all settings, by their whole keys.
func TestDynamicProvidersGetTheWholeConfiguration(t *testing.T) {
	for _, pkg := range []string{"pulumi-nodejs", "pulumi-python"} {
		t.Run(pkg, func(t *testing.T) {
			k := newKit(t)
			k.options.Config = sluice.Config{"p:region": {Text: "eu"}, "aws:zone": {Text: `{"a":1}`}, "p:token": {Text: "hunter2", Secret: true}}
			r := k.try(sluice.Update, program(func(s *script) { s.register(urn.Type(pkg+":dynamic:Resource"), "a", nil) }))
			require.NoError(t, r.err)
			require.Equal(t, values(in{"p:region": "eu", "aws:zone": `{"a":1}`, "p:token": secret("hunter2")}), k.recorded("default").Inputs)
		})
	}
}
