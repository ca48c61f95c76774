package sluice

import (
	"context"
	"errors"
)

// Preview says what Update would do. Nothing is changed and nothing recorded.
func Preview(ctx context.Context, o Options) (*Result, error) { return nil, errors.New("being written") }

// Update makes the stack what the program declares.
func Update(ctx context.Context, o Options) (*Result, error) { return nil, errors.New("being written") }

// Destroy deletes every resource of the stack.
func Destroy(ctx context.Context, o Options) (*Result, error) { return nil, errors.New("being written") }

// PreviewDestroy says what Destroy would do.
func PreviewDestroy(ctx context.Context, o Options) (*Result, error) {
	return nil, errors.New("being written")
}
