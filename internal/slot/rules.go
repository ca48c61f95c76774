package slot

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// rule finds what a stage in one place of the pipeline has changed and may not change: the description of the change, "" for none. A nil rule
// allows everything but changes in the goal that its items share.
type rule[In, Out Item] func(in *In, out *Out) string

// broken returns the rule that a stage has broken, "" for none.
func (r rule[In, Out]) broken(h *held[In, Out]) string {
	if goal := goalOf(&h.in); goal != nil {
		if field := mutated(&h.goal, goal); field != "" {
			return fmt.Sprintf("it changed %s in the goal of %s, which others share; copy the goal, change the copy, and emit the item with it", field, h.in)
		}
	}
	if r == nil {
		return ""
	}
	return r(&h.in, &h.out)
}

// unfit finds what keeps a registration from going on after the slot Registered; "" for nothing, and for other items. in is what it came in as; nil for
// one that the stage has made. Both are pointers to items: one copy of the code for all types keeps programs small.
func unfit(out, in any) string {
	r, ok := out.(*stages.Registered)
	if !ok {
		return ""
	}
	if err := r.Validate(); err != nil {
		return fmt.Sprintf("it emitted what cannot go on: %v", err)
	}
	if r.IsGiven() {
		return fmt.Sprintf("it emitted %s, whose program has its reply already; answer or reject a registration, or emit it", *r)
	}
	was := ""
	if before, ok := in.(*stages.Registered); ok && before.Goal != nil {
		was = before.Goal.Provider
	}
	if r.Goal == nil || !r.Goal.IsManaged() || in != nil && r.Goal.Provider == was {
		return ""
	}
	if _, err := urn.ParseProviderRef(r.Goal.Provider); err != nil {
		return fmt.Sprintf("it emitted %s with a provider that cannot be found: %v", *r, err)
	}
	return ""
}

// unexpected describes the mistake of a stage that emits an item that it does not have.
func unexpected(v Item, id stages.Identity) string {
	_, replies := v.(pipeline.Rejecter) // a program waits for a reply
	switch {
	case replies && !id.Owes() && id.Seq() == 0:
		return fmt.Sprintf("it emitted %s without its PendingReply; emit what came in, changed", v)
	case !replies:
		return fmt.Sprintf("it emitted %s, which it has emitted before or never got; emit each item once, as it came", describe(v))
	}
	return fmt.Sprintf("it emitted %s, which it has emitted before or never got; emit each item once, with the reply, "+
		"the number and the URN that it came with", describe(v))
}

// refers finds a reference that a stage has given a registration after lookup had checked its references; "" for none. in and out are pointers to items,
// and allowed may be nil.
func refers(in, out any, allowed func(stages.Located) error) string {
	before, _ := in.(*stages.Located)
	after, _ := out.(*stages.Located)
	if before == nil || after == nil || before.Goal == after.Goal && before.Read == after.Read {
		return ""
	}
	for ref := range after.Unmade(stages.Checked{}).References() {
		if ref.URN == after.URN {
			return fmt.Sprintf("it made %s refer to itself", after)
		}
	}
	if allowed == nil {
		return ""
	}
	if err := allowed(*after); err != nil {
		return fmt.Sprintf("it changed what %s refers to: %v", after, err)
	}
	return ""
}

// describe names an item that may be the zero value.
func describe(v Item) string {
	if _, ok := v.(stages.Registered); !ok && v.Identity().URN() == "" {
		return "an item without a URN"
	}
	return v.String()
}

// goalOf returns the goal of the item that a pointer points to, which must stay as it is; nil if it has none.
func goalOf(item any) *stages.Goal {
	switch i := item.(type) {
	case *stages.Registered:
		return i.Goal
	case *stages.Located:
		return i.Goal
	case *stages.Checked:
		return i.Goal
	case *stages.Analyzed:
		return i.Goal
	case *stages.Diffed:
		return i.Goal
	case *stages.Built:
		return i.Goal
	}
	return nil
}

// slotRule returns the rule for stages in the slot for items of a type.
func slotRule[T Item]() rule[T, T] {
	var own any
	switch any((*T)(nil)).(type) {
	case *stages.Located:
		own = rule[stages.Located, stages.Located](func(in, out *stages.Located) string {
			if problem := renamed(in, out); problem != "" {
				return problem
			}
			return moved(in, out, "the goal")
		})
	case *stages.Checked:
		own = rule[stages.Checked, stages.Checked](func(in, out *stages.Checked) string {
			return regoaled(&in.Located, &out.Located, "the inputs")
		})
	case *stages.Analyzed:
		own = rule[stages.Analyzed, stages.Analyzed](func(in, out *stages.Analyzed) string {
			return regoaled(&in.Located, &out.Located, "the inputs")
		})
	case *stages.Diffed:
		own = rule[stages.Diffed, stages.Diffed](func(in, out *stages.Diffed) string {
			if problem := compared(&in.Analyzed, &out.Analyzed); problem != "" {
				return problem
			}
			return regoaled(&in.Located, &out.Located, "the comparison")
		})
	case *stages.Built:
		own = rule[stages.Built, stages.Built](func(in, out *stages.Built) string {
			if !same(in.Tasks, out.Tasks) || !same(in.After, out.After) {
				return fmt.Sprintf("it changed the steps of %s, which are decided; change what they follow from in an earlier slot", in)
			}
			return regoaled(&in.Located, &out.Located, "nothing")
		})
	}
	r, _ := own.(rule[T, T])
	return r
}

// placeRule returns the rule for a stage in the place of a standard one, and the standard stage that it may call.
func placeRule[In, Out Item](standard pipeline.Stage[In, Out]) (rule[In, Out], pipeline.Stage[In, Out]) {
	var own any
	switch st := any(standard).(type) {
	case pipeline.Stage[stages.Located, stages.Located]:
		own = rule[stages.Located, stages.Located](renamed)
	case pipeline.Stage[stages.Located, stages.Checked]:
		p := &checkPlace{empty: map[stages.Identity]bool{}}
		own = rule[stages.Located, stages.Checked](p.changed)
		standard = any(p.observed(st)).(pipeline.Stage[In, Out])
	case pipeline.Stage[stages.Checked, stages.Analyzed]:
		own = rule[stages.Checked, stages.Analyzed](func(in *stages.Checked, out *stages.Analyzed) string {
			return exchanged(&in.Located, &out.Located)
		})
	case pipeline.Stage[stages.Analyzed, stages.Diffed]:
		own = rule[stages.Analyzed, stages.Diffed](func(in *stages.Analyzed, out *stages.Diffed) string {
			if problem := compared(in, &out.Analyzed); problem != "" {
				return problem
			}
			return exchanged(&in.Located, &out.Located)
		})
	}
	r, _ := own.(rule[In, Out])
	return r, standard
}

// checkPlace has the rules for a stage in the place of the standard check.
type checkPlace struct {
	mu    sync.Mutex
	empty map[stages.Identity]bool // the items for which the provider has accepted no inputs although there are some
}

// observed returns the standard stage, whose items without inputs are in order.
func (p *checkPlace) observed(standard pipeline.Stage[stages.Located, stages.Checked]) pipeline.Stage[stages.Located, stages.Checked] {
	own := standard
	own.Run = func(ctx context.Context, l stages.Located, emit pipeline.Emit[stages.Checked]) error {
		return standard.Run(ctx, l, func(c stages.Checked) error {
			if hasDropped(&l, &c) {
				p.mu.Lock()
				p.empty[c.Identity()] = true
				p.mu.Unlock()
			}
			return emit(c)
		})
	}
	return own
}

func (p *checkPlace) changed(in *stages.Located, out *stages.Checked) string {
	if problem := renamed(in, &out.Located); problem != "" {
		return problem
	}
	if !hasDropped(in, out) {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.empty[in.Identity()] {
		return ""
	}
	return fmt.Sprintf("it emitted %s without Inputs, and its goal has some; set Inputs and Accepted to what the provider accepts, or call the standard stage", in)
}

// hasDropped reports whether a check has dropped all inputs of a resource.
func hasDropped(in *stages.Located, out *stages.Checked) bool {
	return out.IsManaged() && out.Inputs.Len() == 0 && in.Goal.Inputs.Len() > 0
}

// renamed finds a name that has changed although the URN has been made of it.
func renamed(in, out *stages.Located) string {
	if in.Goal == out.Goal || in.Goal == nil || out.Goal == nil {
		return ""
	}
	for _, part := range []struct{ field, was, is string }{
		{"Name", in.Goal.Name, out.Goal.Name},
		{"Type", string(in.Goal.Type), string(out.Goal.Type)},
		{"Parent", string(in.Goal.Parent), string(out.Goal.Parent)},
	} {
		if part.was != part.is {
			return fmt.Sprintf("it changed %s in the goal of %s, from %q to %q, and the URN is made of it; change it in the slot Registered", part.field, in, part.was, part.is)
		}
	}
	return ""
}

// moved finds a change of what the engine knows about a registration. may is what the stage may change.
func moved(in, out *stages.Located, may string) string {
	field := ""
	switch {
	case in.Old != out.Old:
		field = "Old"
	case in.Claimed != out.Claimed:
		field = "Claimed"
	case in.Origin != out.Origin:
		field = "Origin"
	case in.Course != out.Course:
		field = "Course"
	case in.Alias != out.Alias:
		field = "Alias"
	case in.Supersedes != out.Supersedes:
		field = "Supersedes"
	case in.Reply != out.Reply:
		field = "Reply"
	default:
		return ""
	}
	return fmt.Sprintf("it changed %s of %s; a stage in this slot may change %s", field, in, may)
}

// exchanged finds a change of the goal or of the recorded state.
func exchanged(in, out *stages.Located) string {
	switch {
	case in.Old != out.Old:
		return fmt.Sprintf("it changed Old of %s, on which the decisions are based", in)
	case in.Goal != out.Goal && !reflect.DeepEqual(in.Goal, out.Goal):
		return fmt.Sprintf("it changed the goal of %s, which comes too late; change it in the slot Registered or Located", in)
	}
	return ""
}

// regoaled finds a change of the goal, or one that moved finds.
func regoaled(in, out *stages.Located, may string) string {
	if problem := exchanged(in, out); problem != "" {
		return problem
	}
	return moved(in, out, may)
}

// compared finds a change of inputs that have been compared.
func compared(in, out *stages.Analyzed) string {
	if in.Inputs == out.Inputs || property.IdenticalMaps(in.Inputs, out.Inputs) {
		return ""
	}
	return fmt.Sprintf("it changed Inputs of %s, which have been compared; change them in the slot Checked or Analyzed", in)
}

// same reports whether two lists are one.
func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// sameMap reports whether two maps are one.
func sameMap[K comparable, V any](a, b map[K]V) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

// mutated returns the name of a field of a goal that has another value than before, "" for none. It does not look into lists and maps.
func mutated(was, is *stages.Goal) string {
	switch {
	case was.Type != is.Type:
		return "Type"
	case was.Name != is.Name:
		return "Name"
	case was.Custom != is.Custom:
		return "Custom"
	case was.Parent != is.Parent:
		return "Parent"
	case was.Inputs != is.Inputs:
		return "Inputs"
	case was.Protect != is.Protect:
		return "Protect"
	case !same(was.Dependencies, is.Dependencies):
		return "Dependencies"
	case !sameMap(was.PropertyDependencies, is.PropertyDependencies):
		return "PropertyDependencies"
	case was.Provider != is.Provider:
		return "Provider"
	case was.DeleteBeforeReplace != is.DeleteBeforeReplace:
		return "DeleteBeforeReplace"
	case !same(was.IgnoreChanges, is.IgnoreChanges):
		return "IgnoreChanges"
	case !same(was.HideDiff, is.HideDiff):
		return "HideDiff"
	case !same(was.ReplaceOnChanges, is.ReplaceOnChanges):
		return "ReplaceOnChanges"
	case !property.Identical(was.ReplacementTrigger, is.ReplacementTrigger):
		return "ReplacementTrigger"
	case !same(was.AdditionalSecretOutputs, is.AdditionalSecretOutputs):
		return "AdditionalSecretOutputs"
	case !same(was.Aliases, is.Aliases):
		return "Aliases"
	}
	return mutatedOption(was, is)
}

// mutatedOption is mutated for the other options.
func mutatedOption(was, is *stages.Goal) string {
	switch {
	case was.ImportID != is.ImportID:
		return "ImportID"
	case was.CustomTimeouts.Value() != is.CustomTimeouts.Value():
		return "CustomTimeouts"
	case was.RetainOnDelete != is.RetainOnDelete:
		return "RetainOnDelete"
	case was.DeletedWith != is.DeletedWith:
		return "DeletedWith"
	case !same(was.ReplaceWith, is.ReplaceWith):
		return "ReplaceWith"
	case !sameMap(was.ResourceHooks, is.ResourceHooks):
		return "ResourceHooks"
	case was.ExtensionRef != is.ExtensionRef:
		return "ExtensionRef"
	case was.SourcePosition != is.SourcePosition:
		return "SourcePosition"
	case was.Ordinal != is.Ordinal:
		return "Ordinal"
	case !same(was.StackTrace, is.StackTrace):
		return "StackTrace"
	}
	return ""
}
