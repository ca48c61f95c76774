package state

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/urn"
)

// Rule names one of the integrity rules of [state.md 1.14].
//
// [state.md 1.14]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#114-integrity
type Rule string

// The integrity rules, in the order in which they are checked.
const (
	RuleMagic                Rule = "I-1"
	RuleResource             Rule = "I-2"
	RuleProviderResource     Rule = "I-3"
	RuleProvider             Rule = "I-4"
	RuleParent               Rule = "I-5"
	RuleDependencies         Rule = "I-6"
	RulePropertyDependencies Rule = "I-7"
	RuleDeletedWith          Rule = "I-8"
	RuleReplaceWith          Rule = "I-9"
	RuleDuplicate            Rule = "I-10"
	RuleSnippets             Rule = "I-11"
)

// IntegrityError reports which rule a snapshot breaks and where ([state.md 1.14], [steps.md 13]).
//
// [state.md 1.14]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#114-integrity
// [steps.md 13]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#13-integrity-of-the-snapshot
type IntegrityError struct {
	Rule    Rule
	Index   int     // of the resource or snippet in its list; -1 for the manifest
	URN     urn.URN // of the resource; "" when it has none
	Target  string  // the target of the reference: a URN or a provider reference
	Later   bool    // Target exists, but only after the resource
	Problem string  // the whole sentence
	Err     error   // the cause, if there is one
}

func (e *IntegrityError) Error() string {
	return fmt.Sprintf("snapshot integrity failure (%s): %s", e.Rule, printable.Line(e.Problem))
}

func (e *IntegrityError) Unwrap() error { return e.Err }

// Magic returns the manifest's magic for a version, which [Verify] compares ([state.md 1.5]).
//
// [state.md 1.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#15-manifest
func Magic(version string) string {
	if version == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(version))
	return hex.EncodeToString(sum[:])
}

// Verify checks the integrity rules of [state.md 1.14] in their order, resource by resource, and returns an
// [*IntegrityError] for the first one that is broken. A nil snapshot is valid. It costs one pass over resources and
// references, and does not look at pending operations.
//
// [state.md 1.14]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#114-integrity
func Verify(s *Snapshot) error {
	if s == nil {
		return nil
	}
	if s.Manifest.Magic != Magic(s.Manifest.Version) {
		return &IntegrityError{Rule: RuleMagic, Index: -1, Problem: fmt.Sprintf(
			"the manifest's magic does not match its version %q: the file was changed or damaged", s.Manifest.Version)}
	}
	c := verifier{
		resources: s.Resources,
		seen:      make(map[urn.URN]bool, len(s.Resources)),
		providers: make(map[string]bool),
	}
	for i, r := range s.Resources {
		if err := c.check(i, r); err != nil {
			return err
		}
	}
	return verifySnippets(s.Snippets)
}

// verifier walks a list once. seen maps each URN so far to whether a live copy has been among its entries.
type verifier struct {
	resources []*Resource
	seen      map[urn.URN]bool
	providers map[string]bool // references to the providers so far
}

func (c *verifier) check(i int, r *Resource) error {
	if err := checkShape(i, r); err != nil {
		return err
	}
	if r.Type.IsProvider() {
		if err := checkReferenceable(i, r); err != nil {
			return err
		}
		c.providers[ProviderRefOf(r)] = true
	}
	if err := c.checkProvider(i, r); err != nil {
		return err
	}
	if err := c.checkReferences(i, r); err != nil {
		return err
	}
	live := c.seen[r.URN]
	if live && !r.Delete {
		return &IntegrityError{Rule: RuleDuplicate, Index: i, URN: r.URN, Problem: fmt.Sprintf(
			"duplicate resource %s: only one copy may be live, the others must be marked for deletion", r.URN)}
	}
	c.seen[r.URN] = live || !r.Delete
	return nil
}

// VerifyNames checks that every resource and pending operation of a snapshot has a well-formed URN: other names cannot be
// shown, aliased or ordered by type. It also checks that provider resources name packages: plugins are found by these names.
// It returns an [*IntegrityError] of [RuleResource] or [RuleProviderResource] for the first wrong name. A nil snapshot is
// valid. [Verify] does not check the form of names, so that states that break only this rule can be exported and repaired.
func VerifyNames(s *Snapshot) error {
	if s == nil {
		return nil
	}
	for i, r := range s.Resources {
		if err := checkNames(fmt.Sprintf("resource at index %d", i), i, r); err != nil {
			return err
		}
	}
	for i, op := range s.Pending {
		if err := checkNames(fmt.Sprintf("pending operation at index %d", i), i, op.Resource); err != nil {
			return err
		}
	}
	return nil
}

func checkNames(what string, i int, r *Resource) error {
	if _, err := urn.Parse(string(r.URN)); err != nil {
		return &IntegrityError{Rule: RuleResource, Index: i, URN: r.URN, Err: err, Problem: fmt.Sprintf("%s: %v", what, err)}
	}
	for _, t := range []urn.Type{r.Type, r.URN.Type()} {
		if !t.IsProvider() {
			continue // a program may call its components as it likes
		}
		if err := t.CheckPackage(); err != nil {
			return &IntegrityError{Rule: RuleProviderResource, Index: i, URN: r.URN, Err: err,
				Problem: fmt.Sprintf("%s, the provider %s: %v", what, r.URN, err)}
		}
	}
	return nil
}

func checkShape(i int, r *Resource) error {
	broken := func(problem string) error {
		return &IntegrityError{Rule: RuleResource, Index: i, URN: r.URN, Problem: problem}
	}
	switch {
	case r.URN == "":
		return broken(fmt.Sprintf("resource at index %d has no urn", i))
	case r.Type == "":
		return broken(fmt.Sprintf("resource %s has no type", r.URN))
	case !r.Custom && r.ID != "":
		return broken(fmt.Sprintf("resource %s is a component (custom is false) but has the ID %q", r.URN, r.ID))
	}
	return nil
}

func checkReferenceable(i int, r *Resource) error {
	_, err := urn.Parse(string(r.URN))
	if err == nil && !r.URN.Type().IsProvider() {
		err = fmt.Errorf("%w: its type is %q, not pulumi:providers:<package>", urn.ErrInvalid, r.URN.Type())
	}
	if err != nil {
		return &IntegrityError{Rule: RuleProviderResource, Index: i, URN: r.URN, Err: err,
			Problem: fmt.Sprintf("provider %s cannot be referred to: %v", r.URN, err)}
	}
	return nil
}

// ProviderRefOf returns the text by which resources refer to the provider resource r: "<URN>::<ID>".
func ProviderRefOf(r *Resource) string { return urn.ProviderRef{URN: r.URN, ID: r.ID}.String() }

// canonicalRef gives a reference the form of [ProviderRefOf]: only an empty ID is spelled differently.
func canonicalRef(ref string) string {
	if strings.HasSuffix(ref, "::") {
		return ref + urn.UnknownID
	}
	return ref
}

func (c *verifier) checkProvider(i int, r *Resource) error {
	if r.Provider == "" || c.providers[canonicalRef(r.Provider)] {
		return nil
	}
	if _, err := urn.ParseProviderRef(r.Provider); err != nil {
		return &IntegrityError{Rule: RuleProvider, Index: i, URN: r.URN, Target: r.Provider, Err: err,
			Problem: fmt.Sprintf("the provider reference of resource %s cannot be read: %v", r.URN, err)}
	}
	if r.PendingReplacement {
		return nil
	}
	return &IntegrityError{Rule: RuleProvider, Index: i, URN: r.URN, Target: r.Provider,
		Later:   c.comesLater(i, canonicalRef(r.Provider)),
		Problem: fmt.Sprintf("resource %s refers to unknown provider %s", r.URN, r.Provider)}
}

func (c *verifier) comesLater(i int, provider string) bool {
	return slices.ContainsFunc(c.resources[i:], func(p *Resource) bool { return ProviderRefOf(p) == provider })
}

func (c *verifier) checkReferences(i int, r *Resource) error {
	for ref := range r.byURN() {
		if c.missing(ref.URN) {
			return c.broken(i, ref)
		}
	}
	return nil
}

func (c *verifier) missing(u urn.URN) bool {
	if u == "" {
		return false
	}
	_, ok := c.seen[u]
	return !ok
}

// broken describes a reference whose target does not come before it.
func (c *verifier) broken(i int, ref Reference) error {
	r := c.resources[i]
	later := slices.ContainsFunc(c.resources[i:], func(o *Resource) bool { return o.URN == ref.URN })
	verdict := "is missing"
	if later {
		verdict = "comes after it"
	}
	rule, what := ruleOf(ref.Kind)
	where := ""
	if ref.Property != "" {
		where = fmt.Sprintf(" (property %s)", ref.Property)
	}
	return &IntegrityError{Rule: rule, Index: i, URN: r.URN, Target: string(ref.URN), Later: later,
		Problem: fmt.Sprintf("%s, %s of resource %s%s, %s", ref.URN, what, r.URN, where, verdict)}
}

// ruleOf returns the rule about a kind of reference, and the word for its target.
func ruleOf(k graph.Kind) (rule Rule, what string) {
	switch k {
	case graph.Parent:
		return RuleParent, "the parent"
	case graph.PropertyDependency:
		return RulePropertyDependencies, "a property dependency"
	case graph.DeletedWith:
		return RuleDeletedWith, "the deletedWith"
	case graph.ReplaceWith:
		return RuleReplaceWith, "a replaceWith"
	default:
		return RuleDependencies, "a dependency"
	}
}

func verifySnippets(snippets []json.RawMessage) error {
	at := make(map[string]int, len(snippets))
	for i, raw := range snippets {
		var s struct {
			UUID string `json:"uuid"`
		}
		if err := json.Unmarshal(raw, &s); err != nil || s.UUID == "" {
			return &IntegrityError{Rule: RuleSnippets, Index: i, Err: err,
				Problem: fmt.Sprintf("snippet at index %d has no uuid", i)}
		}
		if first, ok := at[s.UUID]; ok {
			return &IntegrityError{Rule: RuleSnippets, Index: i,
				Problem: fmt.Sprintf("duplicate snippet uuid %q at indexes %d and %d", s.UUID, first, i)}
		}
		at[s.UUID] = i
	}
	return nil
}
