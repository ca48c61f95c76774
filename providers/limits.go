package providers

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/urn"
)

// Limits bound the calls of providers by rules: see [Rule]. Several operations may share one, at the same time too: their calls
// then share its budgets, as they may share an account. It is safe for concurrent use, and a nil Limits limits nothing.
//
// A call waits until all budgets that it needs have room, and takes from none before. So a call that waits for a narrow rule
// holds nothing of a wide one, and calls cannot wait for each other. Calls that need the same budgets go in the order of their
// arrival. Of calls that need different ones, the one that came first goes first, if it can.
type Limits struct {
	rules []compiledRule

	mu       sync.Mutex // guards the fields below; never held while waiting
	budgets  map[budgetKey]*budget
	lines    []*line // one for each set of budgets that a call has needed
	lineOf   map[limitedCall]*line
	arrivals uint64
	turns    uint64      // calls that have begun or ended, as a clock
	refill   *time.Timer // for the next call that only a rate holds up; nil if there was none
}

// limitedCall has the properties of a call that rules match.
type limitedCall struct {
	pkg     string
	method  Method
	typ     urn.Type
	preview bool // of a create or update
}

// budgetKey names a budget. Package is "" if the rule has one budget for all packages.
type budgetKey struct {
	rule int
	pkg  string
}

// NewLimits returns the combined limits of all rules. Its errors name the rule, counted from 1, and the field.
func NewLimits(rules ...Rule) (*Limits, error) {
	l := &Limits{budgets: map[budgetKey]*budget{}, lineOf: map[limitedCall]*line{}}
	for i, r := range rules {
		c, err := r.compile(i + 1)
		if err != nil {
			return nil, err
		}
		l.rules = append(l.rules, c)
	}
	return l, nil
}

// enter waits until a call may begin. If it succeeds, leave must be called when the call is over. It returns the cause of ctx, or of
// the context of all waits, if that ended first.
func (l *Limits) enter(ctx context.Context, call limitedCall, waits callWaits) (leave func(error), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w, blocked := l.arrive(call)
	if blocked != "" {
		err = waits.during(ctx, call, blocked, w.admitted.Wait)
	}
	if err != nil {
		l.giveUp(w)
		return nil, err
	}
	return func(err error) { l.leave(w, outcomeOf(err)) }, nil
}

// arrive puts a call into its line. blocked is the name of the budget that it waits for, "" if it may begin.
func (l *Limits) arrive(call limitedCall) (w *waiter, blocked string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrivals++
	w = &waiter{line: l.find(call), arrival: l.arrivals, admitted: await.NewEvent()}
	w.place = w.line.waiting.PushBack(w)
	l.admit(time.Now())
	if !w.admitted.Fired() {
		blocked = w.line.blocked.name
	}
	return w, blocked
}

// giveUp ends a wait. The call may have been admitted at the same moment.
func (l *Limits) giveUp(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.admitted.Fired() {
		l.end(w, outcomeOther)
		return
	}
	w.line.waiting.Remove(w.place)
	l.admit(time.Now())
}

func (l *Limits) leave(w *waiter, o outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end(w, o)
}

// end returns the capacity of an admitted call. l.mu must be held.
func (l *Limits) end(w *waiter, o outcome) {
	l.turns++
	for _, b := range w.line.needs {
		b.giveBack(ending{o, w.began, l.turns})
	}
	l.admit(time.Now())
}

// admit admits every call that can begin, and schedules the calls that only wait for time. l.mu must be held.
func (l *Limits) admit(now time.Time) {
	for {
		var first *line
		for _, line := range l.lines {
			if line.waiting.Len() == 0 {
				continue
			}
			line.blocked = line.blockedBy(now)
			if line.blocked == nil && (first == nil || line.first().arrival < first.first().arrival) {
				first = line
			}
		}
		if first == nil {
			break
		}
		l.turns++
		first.admit(now, l.turns)
	}
	l.scheduleRefill(now)
}

// scheduleRefill continues calls that a rate holds up when their time has come. l.mu must be held.
func (l *Limits) scheduleRefill(now time.Time) {
	next := time.Duration(-1)
	for _, line := range l.lines {
		if line.waiting.Len() == 0 {
			continue
		}
		if d := line.blocked.untilRefill(now); d > 0 && (next < 0 || d < next) {
			next = d
		}
	}
	switch {
	case next < 0 && l.refill != nil:
		l.refill.Stop()
	case next < 0:
	case l.refill == nil:
		l.refill = time.AfterFunc(next, l.refilled)
	default:
		l.refill.Reset(next)
	}
}

func (l *Limits) refilled() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admit(time.Now())
}

// find returns the line of a call. Calls that need the same budgets share a line. l.mu must be held.
func (l *Limits) find(call limitedCall) *line {
	if found := l.lineOf[call]; found != nil {
		return found
	}
	var needs []*budget
	for i, r := range l.rules {
		if r.matches(call) {
			needs = append(needs, l.budget(i, call.pkg))
		}
	}
	i := slices.IndexFunc(l.lines, func(line *line) bool { return slices.Equal(line.needs, needs) })
	if i < 0 {
		i = len(l.lines)
		l.lines = append(l.lines, &line{needs: needs, waiting: list.New()})
	}
	l.lineOf[call] = l.lines[i]
	return l.lines[i]
}

// budget returns the budget of a rule for a package. l.mu must be held.
func (l *Limits) budget(rule int, pkg string) *budget {
	r := l.rules[rule]
	key := budgetKey{rule: rule}
	if r.Provider != "" {
		key.pkg = pkg
	}
	if l.budgets[key] == nil {
		l.budgets[key] = r.newBudget(pkg)
	}
	return l.budgets[key]
}

// runLimits are the limits of one run.
type runLimits struct {
	all    []*Limits
	waits  *limitWaits
	during func(context.Context, LimitedCall) func()
}

// enter waits for each of the limits, in their order, so that calls cannot wait for each other. u is the resource of the call, "" if it
// has none.
func (r runLimits) enter(ctx context.Context, call limitedCall, u urn.URN) (leave func(error), err error) {
	if len(r.all) == 0 {
		return unlimited, nil
	}
	var leaves []func(error)
	leave = func(err error) {
		for _, l := range leaves {
			l(err)
		}
	}
	for _, l := range r.all {
		one, err := l.enter(ctx, call, callWaits{r.waits, r.during, u})
		if err != nil {
			leave(errNotCalled)
			return nil, err
		}
		leaves = append(leaves, one)
	}
	return leave, nil
}

// unlimited ends a call that no limit has counted.
func unlimited(error) {}

// errNotCalled is the outcome for limits that had admitted a call which was then not made.
var errNotCalled = errors.New("the call was not made")

// waiter is a call that has arrived.
type waiter struct {
	line     *line
	place    *list.Element
	arrival  uint64
	began    uint64 // the turn in which it began
	admitted *await.Event
}

// line is the queue of the calls that need the same budgets.
type line struct {
	needs   []*budget
	waiting *list.List // of *waiter, in the order of their arrival
	blocked *budget    // the budget that the first of them waits for, as of the last look
}

func (l *line) first() *waiter { return l.waiting.Front().Value.(*waiter) }

// blockedBy returns a budget without room for another call; nil if all have room. A budget that needs only time is the last choice:
// it is returned only if the call waits for nothing else.
func (l *line) blockedBy(now time.Time) *budget {
	for _, b := range l.needs {
		if b.isFull() {
			return b
		}
	}
	var last *budget
	for _, b := range l.needs {
		if b.untilRefill(now) > 0 && (last == nil || b.untilRefill(now) > last.untilRefill(now)) {
			last = b
		}
	}
	return last
}

// admit lets the first call begin.
func (l *line) admit(now time.Time, turn uint64) {
	for _, b := range l.needs {
		b.take(now)
	}
	w := l.first()
	w.began = turn
	l.waiting.Remove(w.place)
	w.admitted.Fire()
}
