package journal

import "context"

// Store keeps the journal of one stack, and beside it the checkpoint that the journal starts from. It is used by one
// goroutine at a time. Writes are durable when the method returns.
type Store interface {
	// Name is the name of the journal for messages.
	Name() string
	// Read returns all bytes of the journal, nil if there is none.
	Read(ctx context.Context) ([]byte, error)
	// Base returns the base that Create has kept, nil if there is none.
	Base(ctx context.Context) ([]byte, error)
	// Create begins a journal with the bytes first, and keeps base, the present content of the stack file. There may be the
	// base of an earlier journal. If there is a journal, it and its base stay as they are, and that is an error.
	Create(ctx context.Context, first, base []byte) error
	// Append adds bytes at the end. After an error the journal may hold a part of them.
	Append(ctx context.Context, b []byte) error
	// Truncate cuts the journal to its first size bytes.
	Truncate(ctx context.Context, size int64) error
	// Remove removes the journal, and then the base. After a Create that found another journal it removes nothing.
	Remove(ctx context.Context) error
}
