package policy

import (
	"fmt"
	"slices"
)

// validate checks the configuration of each policy against its schema and returns the problems, ordered.
func validate(policies []described, config map[string]setting) []string {
	var problems []string
	for _, p := range policies {
		for _, problem := range p.problems(config[p.Name].Properties) {
			problems = append(problems, p.Name+": "+problem)
		}
	}
	slices.Sort(problems)
	return problems
}

// noFiles is a loader that refuses references to files or addresses: the schema of a policy must be complete.
type noFiles struct{}

func (noFiles) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, and may refer to nothing outside of itself", url)
}
