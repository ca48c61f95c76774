package run

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Claim is a place in a limit that the workflow of a stack requests, has, or gives back.
type Claim struct {
	Limit    string `json:"limit"`    // the ID of its workflow
	Most     int    `json:"most"`     // the number of places; the latest request counts
	Workflow string `json:"workflow"` // of the stack
	Run      string `json:"run"`
	Bound    bool   `json:"bound,omitempty"` // Bound of the [Request]
}

// Released is a place that is given back. It is a type of its own, so that a sealed request cannot be sent as a release.
type Released Claim

// grant returns the text that grants the place to this workflow, and to no other one with the same ID.
func (c Claim) grant() string {
	if c.Bound {
		return c.Limit + " " + c.Run
	}
	return c.Limit
}

func (c Claim) is(o Claim) bool { return c.Workflow == o.Workflow && c.Run == o.Run }

// Claims is the state of a limit.
type Claims struct {
	Most    int     `json:"most"`
	Held    []Claim `json:"held,omitempty"`
	Waiting []Claim `json:"waiting,omitempty"` // the first one is next
}

// LimitID returns the ID of the workflow of a limit.
func LimitID(fleet, limit string) string { return "sluice/" + fleet + "/limit/" + limit }

const (
	// lookAfter is how long a claim waits before the workflows with places are checked.
	lookAfter = 20 * time.Second
	// askedWithin limits the duration of one attempt of a request.
	askedWithin = 20 * time.Second
)

// Limit is the workflow of one limit of a fleet: it grants places to the workflows of stacks, of all runs, in the order of their requests. It ends
// when no place is taken or requested, and the next request begins it again.
//
// A place is given back by a signal. The place of a workflow that has ended without one, because its run was terminated, is taken back while another
// one waits. The server reports which workflows have ended, so no clock of another machine matters.
func Limit(ctx workflow.Context, c Claims) error {
	ctx, _ = workflow.NewDisconnectedContext(ctx) // it must not be cancelled
	asks, releases := workflow.GetSignalChannel(ctx, AskSignal), workflow.GetSignalChannel(ctx, ReleaseSignal)
	if err := workflow.SetQueryHandler(ctx, LimitQuery, func() (Claims, error) { return c, nil }); err != nil {
		return err
	}
	for {
		for asks.Len()+releases.Len() > 0 {
			var claim Claim
			var back Released
			if asks.ReceiveAsync(&claim) {
				c.ask(claim)
			} else if releases.ReceiveAsync(&back) {
				c.release(Claim(back))
			}
		}
		switch {
		case len(c.Waiting) > 0 && len(c.Held) < c.Most:
			c.grant(ctx)
			continue
		case len(c.Held) == 0 && len(c.Waiting) == 0:
			return nil
		case workflow.GetInfo(ctx).GetContinueAsNewSuggested():
			return workflow.NewContinueAsNewError(ctx, LimitWorkflow, c)
		}
		waiting, stop := workflow.WithCancel(ctx)
		late := false
		s := workflow.NewSelector(ctx).AddReceive(asks, func(workflow.ReceiveChannel, bool) {}).AddReceive(releases, func(workflow.ReceiveChannel, bool) {})
		if len(c.Waiting) > 0 {
			s.AddFuture(workflow.NewTimer(waiting, lookAfter), func(workflow.Future) { late = true })
		}
		s.Select(ctx)
		stop()
		if late {
			c.look(ctx)
		}
	}
}

// ask adds a request for a place. It ignores a repeated one.
func (c *Claims) ask(claim Claim) {
	c.Most = max(1, claim.Most)
	if !slices.ContainsFunc(c.Held, claim.is) && !slices.ContainsFunc(c.Waiting, claim.is) {
		c.Waiting = append(c.Waiting, claim)
	}
}

func (c *Claims) release(claim Claim) {
	c.Held, c.Waiting = slices.DeleteFunc(c.Held, claim.is), slices.DeleteFunc(c.Waiting, claim.is)
}

// grant grants a place to the first waiting workflow, unless that has ended.
func (c *Claims) grant(ctx workflow.Context) {
	next := c.Waiting[0]
	c.Waiting = slices.Clone(c.Waiting[1:])
	c.Held = append(c.Held, next)
	if err := workflow.SignalExternalWorkflow(ctx, next.Workflow, next.Run, GrantSignal, next.grant()).Get(ctx, nil); err != nil {
		c.release(next)
	}
}

// look takes back the places of workflows that have ended.
func (c *Claims) look(ctx workflow.Context) {
	var ended []Claim
	if err := workflow.ExecuteLocalActivity(asking(ctx), EndedActivity, slices.Concat(c.Held, c.Waiting)).Get(ctx, &ended); err != nil {
		return // the next look repeats it
	}
	for _, claim := range ended {
		c.release(claim)
	}
}

func asking(ctx workflow.Context) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: askedWithin, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, MaximumInterval: 10 * time.Second},
	})
}

// places are the places that a stack needs, and those that it has.
type places struct {
	names  []string // of limits, sorted, so that no two stacks wait for each other
	claims []Claim  // by limit
	waits  string   // the limit that it waits for, "" if for none
}

func placesOf(ctx workflow.Context, r StackRequest) *places {
	p := &places{}
	me := workflow.GetInfo(ctx).WorkflowExecution
	if r.Look {
		return p // it changes nothing
	}
	for _, limit := range slices.Sorted(slices.Values(r.Stack.Limits)) {
		if most := r.Limits[limit]; most > 0 {
			p.names = append(p.names, limit)
			p.claims = append(p.claims, Claim{Limit: LimitID(r.Fleet, limit), Most: most, Workflow: me.ID, Run: me.RunID, Bound: r.Bound})
		}
	}
	return p
}

// take waits until the stack has all its places.
func (p *places) take(ctx workflow.Context, fleet string) error {
	granted := workflow.GetSignalChannel(ctx, GrantSignal)
	for i, claim := range p.claims {
		p.waits = p.names[i]
		began := workflow.Now(ctx)
		if err := workflow.ExecuteLocalActivity(asking(ctx), AskActivity, fleet, claim).Get(ctx, nil); err != nil {
			return err
		}
		for grant := ""; grant != claim.grant() && ctx.Err() == nil; {
			s := workflow.NewSelector(ctx)
			s.AddReceive(granted, func(c workflow.ReceiveChannel, _ bool) { c.ReceiveAsync(&grant) })
			s.AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {})
			s.Select(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		waited(ctx, "limit", began)
	}
	p.waits = ""
	return nil
}

// giveBack gives back the stack's places and requests.
func (p *places) giveBack(ctx workflow.Context) {
	var sent []workflow.Future
	for _, claim := range p.claims {
		sent = append(sent, workflow.SignalExternalWorkflow(ctx, claim.Limit, "", ReleaseSignal, Released(claim)))
	}
	for _, s := range sent {
		_ = s.Get(ctx, nil) // a limit that has ended has no places
	}
}
