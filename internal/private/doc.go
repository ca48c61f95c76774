// Package private makes files and folders with exactly the permissions that are asked for, whatever the umask of the
// process: what sluice records of a stack is for its owner, and never so private that the next command cannot read it.
//
// It knows nothing of what the files hold, and makes nothing durable.
//
// Invariant: at no moment does a new file or folder have more permissions than it was asked for.
package private
