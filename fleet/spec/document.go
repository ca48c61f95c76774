package spec

import _ "embed"

// Document is fleet.yaml, as a Go type for its schema. In texts, ${name} is replaced by the value of a variable.
type Document struct {
	// Name is the name of the fleet. It is part of the names of its runs.
	Name string `json:"name" jsonschema:"pattern=^[a-zA-Z0-9][a-zA-Z0-9._-]*$"`
	// Variables are the values for ${name}. --var name=value sets them.
	Variables map[string]string `json:"variables,omitempty"`
	// Concurrency is the number of stacks that run at once, 8 if it is missing.
	Concurrency int `json:"concurrency,omitempty" jsonschema:"minimum=1"`
	// Limits are the numbers of stacks with the same limit that run at once, in all runs and on all workers: one limit for each cloud account, for
	// example.
	Limits map[string]LimitEntry `json:"limits,omitempty"`
	// Key is the key that encrypts the data on the server, in encrypted form. sluice fleet key --secrets-provider prints it.
	Key *KeyEntry `json:"key,omitempty"`
	// Groups are common settings of several stacks.
	Groups map[string]GroupEntry `json:"groups,omitempty"`
	// Stacks are the stacks, by their names in the fleet.
	Stacks map[string]StackEntry `json:"stacks"`
	// Schedules are repeated operations.
	Schedules map[string]ScheduleEntry `json:"schedules,omitempty"`
}

// LimitEntry is a limit on concurrency. A number stands for a limit on stacks.
type LimitEntry struct {
	// Stacks is the number of stacks with the limit that run at once.
	Stacks int `json:"stacks" jsonschema:"minimum=1"`
	// Changes is the number of resources of all of them that change at once. Each stack gets its share.
	Changes int `json:"changes,omitempty" jsonschema:"minimum=1"`
}

// KeyEntry is an encrypted key.
type KeyEntry struct {
	// Provider encrypts the key: passphrase, or the URL of a key service: awskms, azurekeyvault, gcpkms or hashivault.
	Provider string `json:"provider" yaml:"provider"`
	// Salt is the salt of a passphrase.
	Salt string `json:"salt,omitempty" yaml:"salt,omitempty"`
	// EncryptedKey is the data key, encrypted by the key service.
	EncryptedKey string `json:"encryptedKey,omitempty" yaml:"encryptedKey,omitempty"`
	// Sealed is the key, encrypted with the passphrase or the data key.
	Sealed string `json:"sealed" yaml:"sealed"`
}

// GroupEntry has the defaults of the stacks in a group.
type GroupEntry struct {
	// Queue is the queue of the stacks, "fleet" if it is missing. Only workers of the queue run their operations.
	Queue string `json:"queue,omitempty"`
	// Stack is the name of the stack in its project.
	Stack string `json:"stack,omitempty"`
	// Needs are the stacks, entries and groups that come before.
	Needs []string `json:"needs,omitempty"`
	// Limits are the names of the limits that apply.
	Limits []string `json:"limits,omitempty"`
	// Approve are the operations that need an approval: up, destroy.
	Approve []string `json:"approve,omitempty"`
	// Environment are variables of the workers that only these stacks get: names, or prefixes of names with * at the end.
	Environment []string `json:"environment,omitempty"`
	// Config are settings of the stacks. Secrets belong in the settings file of the stack.
	Config map[string]string `json:"config,omitempty"`
}

// StackEntry is one stack, or several stacks with a pattern.
type StackEntry struct {
	// Directory is the folder of the project, relative to fleet.yaml, or to the root of the repository with git. With * it is a pattern: each
	// matching folder with a project is a stack with the name "entry/folder".
	Directory string `json:"directory,omitempty"`
	// Git is the URL of the repository with the project: https, ssh or file. It contains no password.
	Git string `json:"git,omitempty"`
	// Ref is the branch, tag or commit of the repository.
	Ref string `json:"ref,omitempty"`
	// Group is the group of the stack.
	Group string `json:"group,omitempty"`
	GroupEntry
}

// ScheduleEntry is a repeated operation.
type ScheduleEntry struct {
	// Operation is drift, preview or refresh.
	Operation string `json:"operation" jsonschema:"enum=drift,enum=preview,enum=refresh"`
	// Cron is the time of the operation, in five fields and UTC: "0 3 * * *" is every night at three.
	Cron string `json:"cron,omitempty"`
	// Every is the time between two runs: "24h".
	Every string `json:"every,omitempty"`
	// Select are the stacks, entries and groups, all if it is missing.
	Select []string `json:"select,omitempty"`
}

//go:embed fleet.schema.json
var schema []byte

// Schema returns the JSON schema of fleet.yaml, for editors. It is generated from [Document].
func Schema() []byte { return schema }
