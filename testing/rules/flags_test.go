package rules

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
)

// reading makes the providers of a kit request a read before every update of the named resources. Each call calls asks.
func reading(k *kit, asks func(name string) bool) {
	k.fake = func(f *providertest.Fake) {
		base := f.Base
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			out, err := base.Create(ctx, r)
			out.RefreshBeforeUpdate = asks(r.Name)
			return out, err
		}
		f.OnUpdate = func(ctx context.Context, r providers.UpdateRequest) (providers.UpdateResponse, error) {
			out, err := base.Update(ctx, r)
			out.RefreshBeforeUpdate = asks(r.Name)
			return out, err
		}
		f.OnRead = func(ctx context.Context, r providers.ReadRequest) (providers.ReadResponse, error) {
			out, err := base.Read(ctx, r)
			out.RefreshBeforeUpdate = asks(r.Name)
			return out, err
		}
	}
}

func TestWhatItsProviderAsksForIsReadBeforeEveryUpdateAndNothingElse(t *testing.T) {
	k := newKit(t)
	asked := true
	reading(k, func(name string) bool { return asked && name == "a" })
	both := func(size int) func(*script) {
		return func(s *script) { sized("a", size)(s); sized("b", size)(s) }
	}
	k.up(program(both(1)))
	require.True(t, k.recorded("a").RefreshBeforeUpdate)
	require.False(t, k.recorded("b").RefreshBeforeUpdate)

	// Both objects change outside of the stack. Only the one that is read is found to have changed, and is corrected.
	for _, name := range []string{"a", "b"} {
		require.NoError(t, k.cloud.Put(providertest.Record{ID: idOf(name, 1), URN: urnOf(name), Inputs: values(in{"size": 9})}))
	}
	for _, op := range []operation{sluice.Preview, sluice.Update} {
		out := k.try(op, program(both(1)))
		require.NoError(t, out.err)
		require.Equal(t, []string{"refresh a", "update a", "same b"}, out.steps())
		out.requireCounts(map[stages.Op]int{stages.OpUpdate: 1, stages.OpSame: 1})
		require.Equal(t, values(in{"size": 9}), out.step(stages.OpUpdate, "a").Old.Inputs)
	}

	// The provider no longer requests a read.
	asked = false
	require.Equal(t, []string{"refresh a", "same a", "same b"}, k.up(program(both(1))).steps())
	require.False(t, k.recorded("a").RefreshBeforeUpdate)
	require.Equal(t, []string{"same a", "same b"}, k.up(program(both(1))).steps())
}

func TestWhatIsReadBeforeAnUpdateAndIsGoneIsMadeAgain(t *testing.T) {
	k := newKit(t)
	reading(k, func(string) bool { return true })
	k.up(program(sized("a", 1)))
	require.NoError(t, k.cloud.Remove(idOf("a", 1)))
	out := k.up(program(sized("a", 1)))
	require.Equal(t, []string{"refresh a", "create a"}, out.steps())
	require.Equal(t, idOf("a", 2), k.recorded("a").ID)
}

func TestWhatAProgramReadsIsNotReadBeforeUpdatesToo(t *testing.T) {
	k := newKit(t)
	reading(k, func(string) bool { return true })
	k.exists("ext-1", in{"size": 1})
	p := program(func(s *script) { s.read("r", "ext-1") })
	k.up(p)
	require.False(t, k.recorded("r").RefreshBeforeUpdate)
	require.Equal(t, []string{"read r"}, k.up(p).steps())
}

func TestHiddenDifferencesAreForDisplaysOnly(t *testing.T) {
	k := newKit(t)
	hidden := func(size int) func(*script) {
		return sized("a", size, func(r *stages.RegisterRequest) { r.HideDiffs = []string{"size"} })
	}
	k.up(program(hidden(1)))
	require.Equal(t, []string{"size"}, k.recorded("a").HideDiff)
	out := k.up(program(hidden(2)))
	step := out.step(stages.OpUpdate, "a")
	require.Equal(t, []string{"size"}, step.New.HideDiff)
	require.Contains(t, step.DetailedDiff, "size")
	require.Equal(t, values(in{"size": 2}), k.recorded("a").Inputs)

	k.fails(program(sized("a", 3, func(r *stages.RegisterRequest) { r.HideDiffs = []string{"size["} })), "hideDiffs[0]")
}

func TestProvidersAreStartedWithTheVariablesThatTheProgramMaps(t *testing.T) {
	k := newKit(t)
	p := program(func(s *script) {
		_, ref := s.provider("own", nil, func(r *stages.RegisterRequest) { r.EnvVarMappings = map[string]string{"NEW": "OLD"} })
		s.thing("a", nil, via(ref))
	})
	loaded := func() map[string]string {
		loads := k.cloud.Loads()
		return loads[len(loads)-1].Environment
	}
	k.up(p)
	require.Equal(t, map[string]string{"NEW": "OLD"}, loaded())
	internal := k.recorded("own").Inputs.At("__internal").AsMap()
	require.Equal(t, "OLD", internal.At("envVarMappings").AsMap().At("NEW").AsString())
	require.NotContains(t, k.recorded("own").Outputs.Names(), "__internal")

	// If no program runs, the state determines it.
	k.destroy()
	require.Equal(t, map[string]string{"NEW": "OLD"}, loaded())
}
