package display

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
)

// forcedPaths are the paths whose change forces a replacement.
type forcedPaths struct {
	at     map[string]bool
	inside map[string]bool // prefixes of such paths
}

// forcedOf returns the paths that force the replacement of a step, according to the provider or to replaceOnChanges.
func forcedOf(s stages.StepInfo) forcedPaths {
	f := forcedPaths{map[string]bool{}, map[string]bool{}}
	for text, d := range s.DetailedDiff {
		if d.Kind.IsReplace() {
			f.add(text)
		}
	}
	if s.Op != stages.OpReplace && !isReplacementPart(s.Op) || !keysAreProperties(s.Reason.Kind) {
		return f
	}
	for _, text := range s.Keys {
		if !f.contains(text) {
			f.add(text)
		}
	}
	return f
}

// keysAreProperties reports whether the keys of a replacement for this reason name properties. The keys of a replacement that no difference demands
// name what demands it (steps.md 3.8): "id", "replaceWith", "deletedWith", "provider".
func keysAreProperties(k stages.ReasonKind) bool {
	switch k {
	case stages.ReasonRequested, stages.ReasonTainted, stages.ReasonReplaceWith, stages.ReasonDeletedWith, stages.ReasonProviderChanged:
		return false
	}
	return true
}

func (f forcedPaths) add(text string) {
	path, err := property.ParsePath(text)
	if err != nil {
		return
	}
	f.at[path.String()] = true
	for i := 1; i < len(path); i++ {
		f.inside[path[:i].String()] = true
	}
}

// contains reports whether a path, or one inside it, forces a replacement: a provider may name both `a.b` and `a`.
func (f forcedPaths) contains(text string) bool {
	path, err := property.ParsePath(text)
	return err == nil && f.insideOrAt(path)
}

// isAt reports whether a change at this path forces a replacement.
func (f forcedPaths) isAt(path property.Path) bool {
	return len(f.at) > 0 && f.at[path.String()]
}

// insideOrAt reports whether a change of the whole value at this path forces a replacement.
func (f forcedPaths) insideOrAt(path property.Path) bool {
	if len(f.at) == 0 {
		return false
	}
	text := path.String()
	return f.at[text] || f.inside[text]
}
