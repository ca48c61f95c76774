package run

import (
	"errors"
	"maps"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/sluice-iac/sluice/fleet/order"
	"github.com/sluice-iac/sluice/fleet/spec"
)

// surveyed is the number of stacks in one survey activity.
const surveyed = 25

// knowledge is what a run knows of its stacks: what they read, what is recorded of them, and the order that follows.
type knowledge struct {
	request Request
	part    map[string]bool // the stacks of the run
	known   map[string]order.Known
	outputs map[string]string // digests, by stack
	same    map[string]string // digests of what was read, by stack that has not changed otherwise
	order   *order.Order
}

func newKnowledge(r Request) *knowledge {
	k := &knowledge{request: r, part: map[string]bool{}, known: map[string]order.Known{}, outputs: map[string]string{}, same: map[string]string{}}
	for _, s := range r.Stacks {
		k.part[s.Name] = true
	}
	if c := r.Carried; c != nil {
		k.known, k.outputs = c.Known, c.Outputs
		maps.Copy(k.same, c.Same)
	}
	return k
}

// survey reads the recorded properties of stacks. It calls unreadable for stacks of the run that cannot be read.
func (k *knowledge) survey(ctx workflow.Context, stacks []spec.Stack, unreadable func(name, why string)) error {
	byQueue := map[string][]spec.Stack{}
	var queues []string
	for _, s := range stacks {
		if byQueue[s.Queue] == nil {
			queues = append(queues, s.Queue)
		}
		byQueue[s.Queue] = append(byQueue[s.Queue], s)
	}
	var futures []workflow.Future
	for _, queue := range queues {
		ctx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: ActivityQueue(k.request.Fleet, queue), StartToCloseTimeout: 30 * time.Minute, HeartbeatTimeout: heartbeat, WaitForCancellation: true,
			RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 10 * time.Second},
		})
		for chunk := range slices.Chunk(byQueue[queue], surveyed) {
			futures = append(futures, workflow.ExecuteActivity(ctx, SurveyActivity, k.question(ctx, chunk)))
		}
	}
	for _, future := range futures {
		found := map[string]Surveyed{}
		if err := future.Get(ctx, &found); err != nil {
			return err
		}
		for _, s := range stacks {
			is, here := found[s.Name]
			if !here {
				continue
			}
			if k.request.Bound && is.Attempt != workflow.GetInfo(ctx).WorkflowExecution.RunID {
				return temporal.NewNonRetryableApplicationError("the survey of "+s.Name+" belongs to another run", "unbidden", nil)
			}
			k.known[s.Name], k.outputs[s.Name] = is.Known, is.Outputs
			if is.Same {
				k.same[s.Name] = is.Inputs
			}
			if is.Problem != "" && k.part[s.Name] {
				unreadable(s.Name, is.Problem)
			}
		}
	}
	return nil
}

// question returns the survey request for stacks.
func (k *knowledge) question(ctx workflow.Context, stacks []spec.Stack) Survey {
	if !k.request.Bound {
		return Survey{Stacks: stacks}
	}
	return Survey{Stacks: stacks, Attempt: workflow.GetInfo(ctx).WorkflowExecution.RunID, Schedule: k.request.Schedule, Does: k.request.Operation}
}

// arrange computes the order of the stacks.
func (k *knowledge) arrange() error {
	o, err := k.arranged()
	var cycle *order.CycleError
	if errors.As(err, &cycle) {
		return temporal.NewNonRetryableApplicationError(cycle.Error(), cycleType, nil, cycle.Path)
	}
	k.order = o
	return err
}

func (k *knowledge) arranged() (*order.Order, error) {
	return order.Of(slices.Concat(k.request.Stacks, k.request.Others), k.known)
}

// learn adds references of a stack.
func (k *knowledge) learn(name string, reads []string) {
	known := k.known[name]
	for _, reference := range reads {
		if !slices.Contains(known.Reads, reference) {
			known.Reads = append(slices.Clone(known.Reads), reference)
		}
	}
	k.known[name] = known
}

// before returns the stacks of the run that come before a stack.
func (k *knowledge) before(name string) []string {
	list := k.order.Needs(name)
	if k.request.Operation.Reversed() {
		list = k.order.NeededBy(name)
	}
	return slices.DeleteFunc(list, func(n string) bool { return !k.part[n] })
}

// inputs returns the digests of the outputs that a stack reads.
func (k *knowledge) inputs(name string) map[string]string {
	out := map[string]string{}
	for reference, owner := range k.order.Reads(name) {
		out[reference] = k.outputs[owner]
	}
	return out
}

// isUnchanged reports whether nothing of a stack has changed except perhaps its inputs, according to the survey, and these have not changed either.
func (k *knowledge) isUnchanged(name string) bool {
	was, same := k.same[name]
	reads := k.order.Reads(name)
	return same && was != "" && was == InputsDigest(k.known[name].Reads, func(reference string) string { return k.outputs[reads[reference]] })
}
