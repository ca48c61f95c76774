package display

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// model counts the events of an operation. It prints nothing and is not safe for concurrent use.
type model struct {
	running     []*runningStep // oldest first
	done        int            // resources
	refreshes   bool           // refreshed resources count as done
	begins      bool           // a step has begun, of any kind
	newStack    bool           // the stack's own resource is being created
	failed      map[urn.URN]bool
	ended       map[urn.URN]progress        // of each resource
	remaining   int                         // replaced resources whose old objects are still there
	leftOver    int                         // old objects of earlier replacements that were deleted
	components  map[urn.URN]stages.StepInfo // begun, and not yet reported as done
	begun       []urn.URN                   // components in the order in which they began
	diagnostics map[urn.URN]*messages
	said        int              // messages
	kept        [weights]int     // bytes of messages, at least those of diagnostics
	gone        int              // reported as unchanged and later deleted, as in a destroy that runs the program
	renamed     map[urn.URN]bool // reported as unchanged, except for their names
	absent      int              // reported as unchanged, and neither recorded nor made: not part of the operation
	policies    policyModel
	whole       bool // messages are kept as a whole, whatever their size
	waves       []stages.DeletionWaves
	limits      []string // those that calls wait for, in the order in which they began to
	summary     *stages.Summary
	started     time.Time
	lastStep    time.Time // when a step last began or ended, or when the operation began
}

// progress is the progress of a resource.
type progress uint8

// The flags of a progress.
const (
	acted    progress = 1 << iota // a step has succeeded, other than a refresh or a step of an old copy
	newMade                       // the new object of a replacement exists
	oldGone                       // the old object of a replacement is deleted
	counted                       // it is done, and counted
	left                          // it has been reported as unchanged
	imported                      // the new object of a replacement was imported
	vacated                       // its object was deleted for a replacement, and there is no new one yet
	replaced                      // the engine counts it as replaced, which it does before the new object is made
)

// remains reports whether a resource is replaced and its old object is still there.
func (p progress) remains() bool { return p&(newMade|oldGone) == newMade }

// runningStep is a running step of a custom resource.
type runningStep struct {
	step  stages.StepInfo
	since time.Time
}

// elapsed returns how long the step has run, in whole seconds.
func (r *runningStep) elapsed(now time.Time) time.Duration {
	return max(now.Sub(r.since), 0).Truncate(time.Second)
}

func newModel(now time.Time, whole bool) *model {
	return &model{whole: whole, failed: map[urn.URN]bool{}, renamed: map[urn.URN]bool{}, ended: map[urn.URN]progress{}, components: map[urn.URN]stages.StepInfo{}, diagnostics: map[urn.URN]*messages{}, started: now, lastStep: now}
}

// observe processes an event. If the event ends a step, observe returns how long the step took, else 0.
func (m *model) observe(e stages.Event) time.Duration {
	switch e := e.(type) {
	case stages.StepStarted:
		m.begins, m.lastStep = true, e.At
		m.newStack = m.newStack || e.Step.Op == stages.OpCreate && e.Step.URN.IsRootStack()
		m.begin(&e)
	case stages.StepDone:
		m.progress(&e.Step, !e.Outputs)
		return m.end(&e.Step, e.At)
	case stages.StepFailed:
		m.failed[e.Step.URN] = true
		return m.end(&e.Step, e.At)
	case stages.Diagnostic:
		m.diagnose(e)
	case stages.PolicyViolation:
		m.policies.violations = append(m.policies.violations, e)
	case stages.PolicyRemediation:
		m.policies.remediations = append(m.policies.remediations, e)
	case stages.DeletionWaves:
		m.waves = append(m.waves, e)
	case stages.LimitWait:
		m.limits = slices.DeleteFunc(m.limits, func(limit string) bool { return limit == e.Limit })
		if e.Waiting {
			m.limits = append(m.limits, e.Limit)
		}
	case stages.Summary:
		m.summary = &e
	}
	return 0
}

func (m *model) begin(e *stages.StepStarted) {
	switch {
	case e.Step.Op == stages.OpSame || e.Step.Op == stages.OpReplace || e.Step.Internal:
	case tree.IsCustom(&e.Step):
		m.running = append(m.running, &runningStep{e.Step, e.At})
	case !e.Planning:
		m.components[e.Step.URN] = e.Step
		m.ended[e.Step.URN] |= acted // it has no steps
		m.begun = append(m.begun, e.Step.URN)
	}
}

func (m *model) end(step *stages.StepInfo, at time.Time) time.Duration {
	m.lastStep = at
	if s, ok := m.components[step.URN]; ok && sameStep(&s, step) {
		delete(m.components, step.URN)
	}
	i := slices.IndexFunc(m.running, func(r *runningStep) bool { return sameStep(&r.step, step) })
	if i < 0 {
		return 0
	}
	took := at.Sub(m.running[i].since)
	m.running = slices.Delete(m.running, i, i+1)
	return max(took, 0)
}

// progress records a step that has succeeded. If counts is false, only outputs were registered.
func (m *model) progress(s *stages.StepInfo, counts bool) {
	u := s.Resource()
	if s.Op == stages.OpSame && s.FormerURN() != "" {
		m.renamed[u] = true
	}
	if former := s.FormerURN(); former != "" && stages.Replacing(s.Op) && m.ended[former]&(newMade|oldGone) == oldGone {
		m.ended[u] |= m.ended[former] & (oldGone | vacated) // deleted before the program registered it under its new name
		m.ended[former] &^= oldGone | vacated
	}
	was := m.ended[u]
	is := was | acted
	switch {
	case s.Op == stages.OpRefresh:
		is = was // the change comes later
	case s.Op == stages.OpDeleteReplaced || s.Op == stages.OpDiscardReplaced:
		is = was | oldGone
		switch {
		case was&newMade != 0 || isView(s):
		case s.Old != nil && s.Old.Delete:
			m.leftOver++
		default:
			is |= vacated
		}
	case s.Op == stages.OpReplace && counts && !s.Internal && !isView(s):
		is |= replaced
	case stages.Replacing(s.Op):
		is = is&^vacated | newMade
		if s.Op == stages.OpImportReplacement {
			is |= imported
		}
		if s.Old != nil && s.Old.PendingReplacement {
			is |= oldGone // in an earlier operation
		}
	}
	if counts && m.completes(s, is) {
		m.done++
		is |= counted
	}
	if counts && !s.Internal {
		is = m.countLeft(s, is)
	}
	if is != was {
		m.ended[u] = is
	}
	switch {
	case is.remains() && !was.remains():
		m.remaining++
	case was.remains() && !is.remains():
		m.remaining--
	}
}

// isView reports whether a step is about a view, whose provider publishes the steps that it likes.
func isView(s *stages.StepInfo) bool {
	r := cmp.Or(s.New, s.Old)
	return r != nil && r.ViewOf != ""
}

// completes reports whether a step that has succeeded is the last one of a changed resource, for the first time. p is the progress of the resource.
func (m *model) completes(s *stages.StepInfo, p progress) bool {
	switch {
	case s.Internal || s.Op == stages.OpSame || s.Op == stages.OpReplace || s.Op == stages.OpRemovePendingReplace || p&counted != 0:
		return false
	case s.Op == stages.OpRefresh:
		return m.refreshes
	case p.remains():
		return false
	case p&(newMade|oldGone) == oldGone && s.Op.Whole() == stages.OpReplace && (s.Old == nil || !s.Old.Delete):
		return false // it was deleted first; an old copy of an earlier operation needs no more than this step
	}
	return true
}

// waiting returns how many of the expected resources have not begun.
func (m *model) waiting(expected int) int {
	n := expected - m.done - m.remaining - m.errored()
	for _, r := range m.running {
		if !m.ended[r.step.Resource()].remains() && (m.refreshes || r.step.Op != stages.OpRefresh) {
			n--
		}
	}
	return max(n, 0)
}

// importedRemaining returns how many of the replaced resources whose old objects are still there have imported objects.
func (m *model) importedRemaining() (n int) {
	for _, p := range m.ended {
		if p.remains() && p&imported != 0 {
			n++
		}
	}
	return n
}

// countLeft counts the resources that an operation reports as unchanged although it deletes or does not have them. It returns the new progress of
// the resource.
func (m *model) countLeft(s *stages.StepInfo, p progress) progress {
	switch {
	case s.Op == stages.OpSame && s.Old == nil:
		m.absent++
	case s.Op == stages.OpSame:
		return p | left
	case p&left != 0 && (s.Op == stages.OpDelete || s.Op == stages.OpDiscard):
		m.gone++
		return p &^ left
	}
	return p
}

// changes returns the numbers of resources that changed, once the operation has ended. The engine counts a replacement before the new object is made,
// which may fail, and does not count resources that were deleted for a replacement and not made again.
func (m *model) changes() map[stages.Op]int {
	out := map[stages.Op]int{}
	maps.Copy(out, m.summary.Changes)
	for _, p := range m.ended {
		if p&vacated != 0 {
			out[stages.OpDelete]++
		}
		if p&(replaced|newMade) == replaced {
			out[stages.OpReplace]--
		}
	}
	maps.DeleteFunc(out, func(_ stages.Op, n int) bool { return n <= 0 })
	return out
}

// unchanged returns the number of resources that exist and do not change.
func (m *model) unchanged() int { return max(0, m.summary.Changes[stages.OpSame]-m.gone-m.absent) }

// isPartial reports whether the operation is a preview that has failed, so that nobody knows what else there would be to do.
func (m *model) isPartial() bool { return m.summary.IsPreview && m.summary.Result == stages.Failed }

// hidden returns the number of unchanged resources without a row of their own.
func (m *model) hidden() int { return max(0, m.unchanged()-len(m.renamed)) }

// isLeft reports whether a resource has been reported as unchanged.
func (m *model) isLeft(u urn.URN) bool { return m.ended[u]&left != 0 }

// sameStep reports whether two events are about one step. A URN can have two copies, which their states distinguish.
func sameStep(a, b *stages.StepInfo) bool {
	if a.URN != b.URN {
		return false
	}
	if a.Op == b.Op {
		return a.Op != stages.OpDelete && a.Op != stages.OpDeleteReplaced || sameID(a, b)
	}
	return a.Op == stages.OpRefresh // the kind of its result depends on what it found (protocol.md 9.4)
}

func sameID(a, b *stages.StepInfo) bool {
	return a.Old == nil || b.Old == nil || a.Old.ID == b.Old.ID
}

func (m *model) diagnose(d stages.Diagnostic) {
	if d.Ephemeral {
		return
	}
	if d.IsFailure() {
		m.failed[d.URN] = true
	}
	if _, known := m.diagnostics[d.URN]; !known {
		m.diagnostics[d.URN] = &messages{whole: m.whole}
	}
	of := m.diagnostics[d.URN]
	before := of.size
	of.add(d, m.said)
	m.said++
	for w := range weights {
		if m.kept[w] += of.size[w] - before[w]; m.kept[w] > maxKept {
			m.trim(w)
		}
	}
}

// oldest returns the running step that began first.
func (m *model) oldest() (runningStep, bool) {
	if len(m.running) == 0 {
		return runningStep{}, false
	}
	return *m.running[0], true
}

// errored returns the number of resources that failed or had an error message. Messages of the run itself count only if
// there are no others.
func (m *model) errored() int {
	n := len(m.failed)
	if n > 1 && m.failed[""] {
		n--
	}
	return n
}

// trim drops messages when there are too many about all resources together: of output the oldest, of errors and warnings those in the
// middle.
func (m *model) trim(w weight) {
	total, list := 0, []*message(nil)
	for _, of := range m.diagnostics {
		total += of.size[w]
	}
	if m.kept[w] = total; m.whole || total <= maxKept {
		return
	}
	for _, of := range m.diagnostics {
		for i := range of.list {
			if of.list[i].weight() == w {
				list = append(list, &of.list[i])
			}
		}
	}
	slices.SortFunc(list, func(a, b *message) int { return a.number - b.number })
	first := 0
	if w == serious {
		first = maxKept / 4
	}
	for _, x := range list {
		switch {
		case first > 0:
			first -= x.kept()
		case total > maxKept/2:
			x.gone = true
			total -= x.kept()
		}
	}
	for _, of := range m.diagnostics {
		of.leaveOut()
	}
	m.kept[w] = total
}
