package layout

import "github.com/sluice-iac/sluice/state/backend/internal/compression"

// Organization is the only organization of a self-managed backend.
const Organization = "organization"

// Stack names the files of one stack. Project is "" in the old layout.
type Stack struct{ Project, Name string }

// in returns the key of something that belongs to the stack, below one of the trees of state.md 4.4.
func (s Stack) in(tree string) string { return key(tree, s.Project, s.Name) }

// File returns the key of the stack file when it is not compressed.
func (s Stack) File() string { return s.in("stacks") + ".json" }

// Tags returns the key of the tags.
func (s Stack) Tags() string { return s.in("stacks") + ".pulumi-tags" }

// History returns the folder of the history.
func (s Stack) History() string { return s.in("history") }

// Backups returns the folder of the backups.
func (s Stack) Backups() string { return s.in("backups") }

// Written returns the prefixes of the keys that Pulumi writes under the lock of a stack: the stack file and the files beside
// it, history and backups. Files of stacks whose names begin with this one and a dot have one of these prefixes, too.
func (s Stack) Written() []string {
	return []string{s.in("stacks") + ".", s.History() + "/", s.Backups() + "/"}
}

// Locks returns the folder of the locks.
func (s Stack) Locks() string {
	if s.Project == "" {
		return s.in("locks")
	}
	return key("locks", Organization, s.Project, s.Name)
}

// Journal returns the key of the journal.
func (s Stack) Journal() string { return key("sluice", "journal", s.Project, s.Name+".jnl") }

// JournalBase returns the key of the stack file that the journal starts from.
func (s Stack) JournalBase() string { return s.Journal() + ".base" }

// Beside returns the key of a kind of content that is kept beside the state.
func (s Stack) Beside(kind string) string { return key("sluice", kind, s.Project, s.Name) }

// Salvage returns the key of a file of an interrupted operation that was set aside.
func (s Stack) Salvage(name string) string { return key("sluice", "salvage", s.Project, name) }

// Rejected returns the key of a state that must not become the stack file.
func (s Stack) Rejected(name string) string { return key("sluice", "rejected", s.Project, name) }

// Variants returns the keys under which the stack file may be, in their order.
func (s Stack) Variants() []string {
	var keys []string
	for _, f := range compression.Formats() {
		keys = append(keys, s.File()+f.Extension())
	}
	return keys
}

// Previous returns the keys under which the stack file before the present one may be, in their order.
func (s Stack) Previous() []string {
	var keys []string
	for _, key := range s.Variants() {
		keys = append(keys, Previous(key))
	}
	return keys
}

// Previous returns the key that keeps the stack file before the one of this key.
func Previous(key string) string { return key + ".bak" }
