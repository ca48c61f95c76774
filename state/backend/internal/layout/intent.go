package layout

import (
	"path"
	"strings"
)

// noProject stands in keys for the project of a stack of the old layout. No project is called that.
const noProject = "~"

// Intents returns the prefix of the keys of the operations on two stacks.
func Intents() string { return key("sluice", "pairs") + "/" }

// Intent returns the key of an operation on two stacks. It names both, so that whoever looks for the operations on one stack
// does not have to read those on others.
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

// IntentOf returns the stacks that an operation is on, by its key.
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
