package spec

// Document is fleet.yaml, as a Go type for its schema. Texts may have ${name}, which stands for a variable.
type Document struct {
	// Name is the name of the fleet. It is part of the names of its runs.
	Name string `json:"name" jsonschema:"pattern=^[a-zA-Z0-9][a-zA-Z0-9._-]*$"`
	// Variables are texts that ${name} stands for. --var name=value sets them.
	Variables map[string]string `json:"variables,omitempty"`
	// Concurrency is how many stacks are worked on at once, 8 if it is missing.
	Concurrency int `json:"concurrency,omitempty" jsonschema:"minimum=1"`
	// Limits are how many stacks with the same limit are worked on at once, in all runs and on all workers: one limit for each cloud account, for example.
	Limits map[string]LimitEntry `json:"limits,omitempty"`
	// Key is the key of what the server keeps, encrypted. sluice fleet key --secrets-provider prints it.
	Key *KeyEntry `json:"key,omitempty"`
	// Groups are what several stacks have in common.
	Groups map[string]GroupEntry `json:"groups,omitempty"`
	// Stacks are the stacks, by the names that they have in the fleet.
	Stacks map[string]StackEntry `json:"stacks"`
	// Schedules are operations that are repeated.
	Schedules map[string]ScheduleEntry `json:"schedules,omitempty"`
}

// LimitEntry is how much is done at once. A number is short for stacks.
type LimitEntry struct {
	// Stacks is how many stacks with the limit are worked on at once.
	Stacks int `json:"stacks" jsonschema:"minimum=1"`
	// Changes is how many resources of all of them change at once. Each stack gets its share.
	Changes int `json:"changes,omitempty" jsonschema:"minimum=1"`
}

// KeyEntry is an encrypted key.
type KeyEntry struct {
	// Provider is what encrypts it: passphrase, or the URL of a key service: awskms, azurekeyvault, gcpkms or hashivault.
	Provider string `json:"provider" yaml:"provider"`
	// Salt is that of a passphrase.
	Salt string `json:"salt,omitempty" yaml:"salt,omitempty"`
	// EncryptedKey is the data key that the key service has encrypted.
	EncryptedKey string `json:"encryptedKey,omitempty" yaml:"encryptedKey,omitempty"`
	// Sealed is the key, encrypted with the passphrase or the data key.
	Sealed string `json:"sealed" yaml:"sealed"`
}

// GroupEntry is what the stacks of a group have, unless they say otherwise.
type GroupEntry struct {
	// Queue is the queue whose workers do the work, "fleet" if it is missing. Only workers that take from the queue get these stacks.
	Queue string `json:"queue,omitempty"`
	// Stack is the name of the stack in its project.
	Stack string `json:"stack,omitempty"`
	// Needs are the stacks, entries and groups that come before.
	Needs []string `json:"needs,omitempty"`
	// Limits are the names of the limits that apply.
	Limits []string `json:"limits,omitempty"`
	// Approve are the operations that wait until somebody approves them: up, destroy.
	Approve []string `json:"approve,omitempty"`
	// Environment are variables of the workers that only these stacks get: names, or beginnings of names with * at the end.
	Environment []string `json:"environment,omitempty"`
	// Config are settings of the stacks. Secrets belong into the settings file of the stack.
	Config map[string]string `json:"config,omitempty"`
}

// StackEntry is one stack, or with a pattern several.
type StackEntry struct {
	// Directory is the folder of the project, relative to fleet.yaml, or to the root of the repository with git. With * it is a pattern, and each
	// folder that has a project is a stack with the name "entry/folder".
	Directory string `json:"directory,omitempty"`
	// Git is the URL of a repository that has the project: https, ssh or file. It holds no password.
	Git string `json:"git,omitempty"`
	// Ref is the branch, tag or commit of the repository.
	Ref string `json:"ref,omitempty"`
	// Group is the group of the stack.
	Group string `json:"group,omitempty"`
	GroupEntry
}

// ScheduleEntry is an operation that is repeated.
type ScheduleEntry struct {
	// Operation is drift, preview or refresh.
	Operation string `json:"operation" jsonschema:"enum=drift,enum=preview,enum=refresh"`
	// Cron is when, in five fields and UTC: "0 3 * * *" is every night at three.
	Cron string `json:"cron,omitempty"`
	// Every is the time between two runs: "24h".
	Every string `json:"every,omitempty"`
	// Select are the stacks, entries and groups, all if it is missing.
	Select []string `json:"select,omitempty"`
}
