package providertest

import (
	"errors"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// The methods that [providers.Method] does not have, with their names in calls and failures.
const (
	MethodCheckConfig  providers.Method = "check-config"
	MethodDiffConfig   providers.Method = "diff-config"
	MethodConfigure    providers.Method = "configure"
	MethodCall         providers.Method = "call"
	MethodConstruct    providers.Method = "construct"
	MethodParameterize providers.Method = "parameterize"
	MethodSchema       providers.Method = "schema"
	MethodCancel       providers.Method = "cancel"
	MethodClose        providers.Method = "close"
)

// Call is one call that a provider of a [Cloud] received.
type Call struct {
	Method  providers.Method
	URN     urn.URN
	Token   string // of an invoke or a call
	ID      string
	Preview bool
	Nth     int // 1 for the first call of this method for this URN or token
}

// subject is the resource or function of a call.
func (c Call) subject() string {
	if c.URN != "" {
		return string(c.URN)
	}
	return c.Token
}

// Failure makes calls fail. Empty fields match everything; the first matching failure in the list is used.
type Failure struct {
	Method providers.Method
	URN    urn.URN
	Name   string // of the resource
	Nth    int    // 0 is every call, 1 the first of the method for the URN
	// Preview and Update restrict the failure to previewed or to real calls; with neither all calls fail.
	Preview, Update bool

	// Err is the error of the call; nil makes an error that names the call.
	Err error
	// Applied makes the call do its work before it fails: the cloud has changed without the caller noticing.
	Applied bool
	// Hang makes the call wait until the provider is cancelled or closed, or the call's context ends, and then fail.
	Hang bool
}

func (f Failure) matches(c Call) bool {
	return (f.Method == "" || f.Method == c.Method) && (f.URN == "" || f.URN == c.URN) &&
		(f.Name == "" || f.Name == c.URN.Name()) && (f.Nth == 0 || f.Nth == c.Nth) &&
		(!f.Preview || c.Preview) && (!f.Update || !c.Preview)
}

func (f Failure) err(c Call) error {
	if f.Err != nil {
		return f.Err
	}
	what := c.URN.Name()
	if what == "" {
		what = c.Token
	}
	return errors.New(strings.TrimSpace("the cloud refused to " + string(c.Method) + " " + what))
}

// log records calls.
type log struct {
	mu      sync.Mutex // guards the fields below
	calls   []Call
	counts  map[providers.Method]int
	current map[providers.Method]int
	peak    map[providers.Method]int
	nth     map[callKey]int
}

type callKey struct {
	method  providers.Method
	subject string
}

func newLog() *log {
	return &log{
		counts: map[providers.Method]int{}, current: map[providers.Method]int{},
		peak: map[providers.Method]int{}, nth: map[callKey]int{},
	}
}

// begin numbers a call. The result must be called when the call is over.
func (l *log) begin(c Call) (Call, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := callKey{c.Method, c.subject()}
	l.nth[key]++
	c.Nth = l.nth[key]
	l.calls = append(l.calls, c)
	l.counts[c.Method]++
	l.current[c.Method]++
	l.peak[c.Method] = max(l.peak[c.Method], l.current[c.Method])
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.current[c.Method]--
	}
}
