// Package private creates files and folders with exactly the given permissions, whatever the umask of the process:
// records of a stack are for their owner only, and never so restricted that the next command cannot read them.
//
// It removes files, too. It is independent of the content of the files, and makes nothing durable.
//
// Invariant: a new file or folder never has more permissions than the given ones, not even for a moment.
package private
