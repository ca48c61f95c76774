package providers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/time/rate"
)

// Method names a method of a [Provider] that belongs to one resource or function.
type Method string

// The methods that a [Rule] may name. Call and Construct are not among them: they call back into the engine, and a call
// that holds capacity while it waits for the engine would stop the run.
const (
	MethodCheck  Method = "check"
	MethodDiff   Method = "diff"
	MethodCreate Method = "create"
	MethodRead   Method = "read"
	MethodUpdate Method = "update"
	MethodDelete Method = "delete"
	MethodInvoke Method = "invoke"
)

// Groups of methods that a [Rule] may name.
const (
	MethodReads   Method = "reads"   // check, diff and read
	MethodChanges Method = "changes" // create, update and delete
)

// groups are the methods of each method name of a [Rule].
var groups = map[Method][]Method{
	MethodCheck: {MethodCheck}, MethodDiff: {MethodDiff}, MethodCreate: {MethodCreate}, MethodRead: {MethodRead},
	MethodUpdate: {MethodUpdate}, MethodDelete: {MethodDelete}, MethodInvoke: {MethodInvoke},
	MethodReads: {MethodCheck, MethodDiff, MethodRead}, MethodChanges: {MethodCreate, MethodUpdate, MethodDelete},
}

// Rule bounds calls of providers. The calls that it matches share one budget for each package, for all instances of the provider:
// the limits are those of the API behind a package. A call must have room in the budgets of all rules that match it.
type Rule struct {
	// Name is the name of the limit in messages; "" stands for a description of the rule.
	Name string
	// Provider is the name of a package, or a pattern with "*", such as "aws*". Each package that it matches has a budget of its own.
	// "" makes one budget for all packages together.
	Provider string
	// Methods are methods and groups of methods; none is every method. Previewed creates and updates change nothing: they match a
	// rule only if it names no methods.
	Methods []Method
	// Type is the type of the resource or the token of the function, or a pattern with "*", such as "aws:iam/*" (see [Pattern.MatchType]); "" is any.
	Type string

	Parallel int     // calls at once; 0 is any number
	Rate     float64 // calls that begin in a second; 0 is any number
	Burst    int     // calls that may begin at once after a pause, if there is a Rate; 0 is 1
	// Adaptive halves the number of calls at once when a provider answers that it gets too many, to no less than 1. Answers to calls that had
	// begun before that do not halve it again. After as many successes as the number is, it grows by 1 if all of it has been used, up to
	// Parallel. No call is repeated: its error stays an error.
	Adaptive bool
}

// compiledRule is a rule in a form for matching.
type compiledRule struct {
	Rule
	provider, typ *Pattern
	methods       map[Method]bool // nil is every method
}

// compile checks a rule, the nth one.
func (r Rule) compile(n int) (compiledRule, error) {
	c := compiledRule{Rule: r}
	err := func() (err error) {
		switch {
		case r.Parallel < 0:
			return fmt.Errorf("parallel must be a whole number from 1, not %d", r.Parallel)
		case r.Rate < 0 || math.IsNaN(r.Rate) || math.IsInf(r.Rate, 0):
			return fmt.Errorf("rate must be a number of calls a second that is greater than 0, not %v", r.Rate)
		case r.Burst < 0:
			return fmt.Errorf("burst must be a whole number from 1, not %d", r.Burst)
		case r.Burst > 0 && r.Rate == 0:
			return errors.New("burst requires rate")
		case r.Parallel == 0 && r.Rate == 0 && !r.Adaptive:
			return errors.New("it limits nothing: set parallel, rate or adaptive")
		}
		if c.provider, err = pattern("provider", r.Provider); err != nil {
			return err
		}
		if c.typ, err = pattern("type", r.Type); err != nil {
			return err
		}
		for _, name := range r.Methods {
			methods, ok := groups[name]
			if !ok {
				return fmt.Errorf("methods: unknown method %q; the methods are %s", name, listOf(groups))
			}
			if c.methods == nil {
				c.methods = map[Method]bool{}
			}
			for _, m := range methods {
				c.methods[m] = true
			}
		}
		return nil
	}()
	if err != nil {
		return c, fmt.Errorf("rule %d (%s): %w", n, r.title(r.Provider), err)
	}
	return c, nil
}

// pattern parses the pattern of a field; nil matches everything.
func pattern(field, text string) (*Pattern, error) {
	if text == "" {
		return nil, nil
	}
	p, err := ParsePattern(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return p, nil
}

func listOf[V any](names map[Method]V) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, string(name))
	}
	return strings.Join(all, ", ")
}

// title is the name of a rule's budget for a package in messages.
func (r Rule) title(pkg string) string {
	if r.Name != "" {
		if strings.Contains(r.Provider, "*") {
			return r.Name + " of " + pkg
		}
		return r.Name
	}
	parts := []string{pkg}
	if r.Provider == "" {
		parts = []string{"all providers"}
	}
	for _, m := range r.Methods {
		parts = append(parts, string(m))
	}
	if r.Type != "" {
		parts = append(parts, r.Type)
	}
	return strings.Join(parts, " ")
}

func (c compiledRule) matches(call limitedCall) bool {
	switch {
	case c.provider != nil && !c.provider.Match(call.pkg), c.typ != nil && !c.typ.MatchType(call.typ):
		return false
	case c.methods == nil:
		return true
	}
	return c.methods[call.method] && !call.preview
}

func (c compiledRule) newBudget(pkg string) *budget {
	b := &budget{name: c.title(pkg), most: c.Parallel, allowed: c.Parallel, adaptive: c.Adaptive}
	if c.Rate > 0 {
		b.rate = rate.NewLimiter(rate.Limit(c.Rate), max(c.Burst, 1))
	}
	return b
}

// ParseRules reads rules from a JSON list of objects with the fields of a [Rule] in lower case. "methods" may be one name. Numbers may
// be texts, which some tools write. Its errors name the rule, counted from 1, and the field.
func ParseRules(text string) ([]Rule, error) {
	var entries []json.RawMessage
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return nil, errors.New("it must be a list of rules, each with provider, methods, type, parallel, rate, burst or adaptive")
	}
	var rules []Rule
	for i, raw := range entries {
		r, err := parseRule(raw)
		if err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func parseRule(raw json.RawMessage) (r Rule, err error) {
	var fields map[string]any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&fields) != nil || fields == nil {
		return r, fmt.Errorf("a rule is a map of fields, not %s", raw)
	}
	known := map[string]func(any) error{
		"name":     func(v any) error { return parseText(v, &r.Name) },
		"provider": func(v any) error { return parseText(v, &r.Provider) },
		"methods":  func(v any) (err error) { r.Methods, err = parseMethods(v); return err },
		"type":     func(v any) error { return parseText(v, &r.Type) },
		"parallel": func(v any) error { return parseCount(v, &r.Parallel) },
		"rate":     func(v any) (err error) { r.Rate, err = parseRate(v); return err },
		"burst":    func(v any) error { return parseCount(v, &r.Burst) },
		"adaptive": func(v any) (err error) { r.Adaptive, err = parseBool(v); return err },
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		parse := known[name]
		if parse == nil {
			return r, fmt.Errorf("unknown field %q; a rule has %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if err := parse(fields[name]); err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
	}
	return r, nil
}

func parseText(v any, to *string) error {
	text, ok := v.(string)
	if !ok || text == "" {
		return fmt.Errorf("it must be a text, not %s", shown(v))
	}
	*to = text
	return nil
}

func parseMethods(v any) ([]Method, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var methods []Method
	for _, one := range list {
		var text string
		if parseText(one, &text) != nil {
			return nil, fmt.Errorf("it must be a method or a list of methods, not %s", shown(v))
		}
		methods = append(methods, Method(text))
	}
	if len(methods) == 0 {
		return nil, errors.New("it is empty; leave it out for all methods")
	}
	return methods, nil
}

func parseCount(v any, to *int) error {
	n, err := strconv.Atoi(numeral(v))
	if err != nil || n < 1 {
		return fmt.Errorf("it must be a whole number from 1, not %s", shown(v))
	}
	*to = n
	return nil
}

func parseRate(v any) (float64, error) {
	f, err := strconv.ParseFloat(numeral(v), 64)
	if err != nil || !(f > 0) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("it must be a number of calls a second that is greater than 0, not %s", shown(v))
	}
	return f, nil
}

func parseBool(v any) (bool, error) {
	switch v {
	case true, "true":
		return true, nil
	case false, "false":
		return false, nil
	}
	return false, fmt.Errorf("it must be true or false, not %s", shown(v))
}

// numeral returns the text of a number; "" for anything else.
func numeral(v any) string {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case string:
		return v
	}
	return ""
}

// shown returns a value for messages.
func shown(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
