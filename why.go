package sluice

import (
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/urn"
)

// decided is what a result remembers of its run, to explain it when somebody asks.
type decided struct {
	about       why.About
	steps       []stages.Decided
	isSensitive func(string) bool
}

func (s *session) decided(err error) decided {
	about := why.About{
		Operation: s.op.name, Preview: s.op.dryRun, Project: s.options.Project, Stack: s.options.Stack,
		Began: s.began.UTC(), Ended: time.Now().UTC(), Result: resultOf(err),
	}
	if s.op.dryRun {
		switch s.op.mode {
		case stages.ModeDestroy:
			about.Operation = "destroy"
		case stages.ModeRefresh:
			about.Operation = "refresh"
		default:
			about.Operation = "update"
		}
	}
	return decided{about: about, steps: s.deployment.Decided(), isSensitive: s.options.Config.isSensitive()}
}

// isSensitive returns a function that tells whether a text has a secret setting in it. Short settings are not looked for:
// they are part of everything.
func (c Config) isSensitive() func(string) bool {
	const shortest = 3
	var texts []string
	for _, v := range c {
		if v.Secret && len(v.Text) >= shortest {
			texts = append(texts, v.Text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return func(s string) bool {
		return slices.ContainsFunc(texts, func(secret string) bool { return strings.Contains(s, secret) })
	}
}

// Decisions returns what the operation decided, and why, whether or not it was done. It is made anew by each call, in time
// linear in the resources and their dependencies.
func (r *Result) Decisions() *why.Log {
	return why.New(r.decided.about, r.decided.steps, r.decided.isSensitive)
}

// Why explains what the operation decided about a resource: the chain of reasons from the decision back to the edit of the
// program, the option or the event outside that it comes from, across resources. It returns nil for a resource that
// nothing was decided about. To ask about many resources, ask one [Result.Decisions].
func (r *Result) Why(u urn.URN) *why.Explanation { return r.Decisions().Why(u) }
