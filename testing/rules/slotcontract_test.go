package rules

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
)

// seenItems records the items that pass the slots of an engine.
type seenItems struct {
	mu   sync.Mutex // guards the rest
	list map[string]bool
}

func look[T fmt.Stringer](s *seenItems, slot string, describe func(T) string) func(stages.Operation) pipeline.Stage[T, T] {
	return stageOf(func(_ context.Context, v T, emit pipeline.Emit[T]) error {
		s.mu.Lock()
		s.list[slot+": "+describe(v)] = true
		s.mu.Unlock()
		return emit(v)
	})
}

func describeLocated(l stages.Located) string {
	return fmt.Sprint(l.URN.Name(), " old=", l.Old != nil, " goal=", l.Goal != nil, " read=", l.Read != nil, " managed=", l.IsManaged())
}

func (s *seenItems) in(e *sluice.Engine) {
	e.Registered.Insert(look(s, "registered", func(r stages.Registered) string {
		return fmt.Sprint(r.Subject().Name, " goal=", r.Goal != nil, " read=", r.Read != nil, " managed=", r.IsManaged())
	}))
	e.Located.Insert(look(s, "located", describeLocated))
	e.Checked.Insert(look(s, "checked", func(c stages.Checked) string {
		return fmt.Sprint(c.URN.Name(), " unknown=", c.Inputs.HasUnknowns())
	}))
	e.Analyzed.Insert(look(s, "analyzed", func(a stages.Analyzed) string { return a.URN.Name() }))
	e.Diffed.Insert(look(s, "diffed", func(d stages.Diffed) string {
		return fmt.Sprint(d.URN.Name(), " compared=", d.Compared, " replaces=", d.Replaces(), " rechecked=", d.Rechecked != nil)
	}))
	e.Built.Insert(look(s, "built", func(b stages.Built) string { return fmt.Sprint(b.URN.Name(), " ", b.Steps()[0].Op) }))
	e.Executed.Insert(look(s, "executed", func(x stages.Executed) string { return fmt.Sprint(x.URN.Name(), " ", x.Err) }))
	e.Deleting.Insert(look(s, "deleting", func(d stages.Deleting) string { return fmt.Sprint(d.Op, " ", d.URN.Name(), " ", d.IsManaged()) }))
	e.Deleted.Insert(look(s, "deleted", func(d stages.Deleted) string { return fmt.Sprint(d.URN.Name(), " ", d.Err) }))
}

// docs/composing.md describes the items in the slots, and their nil fields.
func TestWhatPassesTheSlotsOfAPreview(t *testing.T) {
	k := newKit(t)
	k.exists("there", in{"n": 1})
	k.up(program(func(s *script) {
		s.thing("changes", in{"immutable": 1})
		s.thing("goes", nil)
	}))
	s := &seenItems{list: map[string]bool{}}
	out := k.try(func(ctx context.Context, o sluice.Options) (*sluice.Result, error) {
		e := sluice.Standard(o)
		s.in(e)
		return e.Preview(ctx)
	}, program(func(s *script) {
		s.group("component")
		s.read("reading", "there")
		s.thing("changes", in{"immutable": 2})
		s.thing("new", nil, from("of", s.thing("other", nil)))
	}))
	require.NoError(t, out.err)
	for _, want := range []string{
		"registered: reading goal=false read=true managed=false",
		"registered: component goal=true read=false managed=false",
		"registered: default goal=true read=false managed=false",
		"registered: new goal=true read=false managed=true",
		"located: changes old=true goal=true read=false managed=true",
		"located: reading old=false goal=false read=true managed=false",
		"located: new old=false goal=true read=false managed=true",
		"checked: new unknown=true",
		"analyzed: new",
		"diffed: changes compared=true replaces=true rechecked=true",
		"diffed: new compared=false replaces=false rechecked=false",
		"built: new create",
		"executed: new <nil>",
		"deleting: delete goes true",
		"deleting: delete-replaced changes true",
		"deleted: goes <nil>",
		"deleted: changes <nil>",
	} {
		require.Contains(t, s.list, want)
	}
	require.Equal(t, []string{"changes", "goes"}, k.names(), "nothing has been done")
}
