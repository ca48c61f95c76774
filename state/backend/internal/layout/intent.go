package layout

import (
	"path"
	"strings"
)

// noProject stands in keys for the project of a stack of the old layout. No project has that name.
const noProject = "~"

// Intents returns the prefix of the keys of the operations on two stacks.
func Intents() string { return key("sluice", "pairs") + "/" }

// Intent returns the key of an operation on two stacks. It contains both names, so that a search for the operations on one
// stack need not read those on others.
func Intent(stacks [2]Stack) string {
	key := Intents()
	for _, s := range stacks {
		project := s.Project
		if project == "" {
			project = noProject
		}
		key = path.Join(key, project, s.Name)
	}
	return key + ".json"
}

// IntentOf returns the two stacks of an operation, from its key.
func IntentOf(key string) (stacks [2]Stack, is bool) {
	parts := strings.Split(strings.TrimPrefix(strings.TrimSuffix(key, ".json"), Intents()), "/")
	if len(parts) != 4 {
		return stacks, false
	}
	for n := range stacks {
		project := parts[2*n]
		if project == noProject {
			project = ""
		}
		stacks[n] = Stack{project, parts[2*n+1]}
		if CheckName("stack", stacks[n].Name, false) != nil || project != "" && CheckName("project", project, true) != nil {
			return stacks, false
		}
	}
	return stacks, true
}
