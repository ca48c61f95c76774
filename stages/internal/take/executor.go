package take

import (
	"fmt"
)

// IsBatch reports whether the tasks belong to no registration: those of the end phase and of an import, each of which fails
// for itself.
func (c *Chain) IsBatch() bool { return c.Built.PendingReply == nil }

// Reject tells the program that the steps are not taken.
func (a Assignment) Reject(err error) { a.Chain.Built.PendingReply.Reject(err) }

// Sequence is the number of the registration.
func (a Assignment) Sequence() int64 { return int64(a.Chain.Built.Seq) }

// String names the resource for messages about a panic.
func (a Assignment) String() string {
	if len(a.Steps) > 0 {
		return fmt.Sprintf("%s of %s", a.Steps[0].Op, a.Steps[0].URN)
	}
	return string(a.Chain.Built.URN)
}
