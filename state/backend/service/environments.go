package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

var _ backend.Environments = (*Backend)(nil)

// EnvironmentError lists the problems of the environments of a stack.
type EnvironmentError struct {
	Problems []string // "project/name:3:4: the problem"
}

func (e *EnvironmentError) Error() string {
	return "the environments of the stack cannot be opened:\n  " + strings.Join(e.Problems, "\n  ")
}

// OpenEnvironment implements [backend.Environments].
func (b *Backend) OpenEnvironment(ctx context.Context, organization string, q backend.EnvironmentQuery) (backend.Environment, error) {
	ask := func() (map[string]json.RawMessage, error) {
		return b.client.Environments(organization).Check(ctx, q.Definition)
	}
	if q.Open {
		ask = func() (map[string]json.RawMessage, error) {
			return b.client.Environments(organization).Open(ctx, q.Definition, q.Overrides)
		}
	}
	properties, err := ask()
	var refused *api.AnswerError
	if errors.As(err, &refused) && len(refused.Diagnostics) > 0 {
		return nil, problemsOf(refused.Diagnostics)
	}
	if err != nil {
		return nil, fmt.Errorf("open the environments of the stack: %w", err)
	}
	out := backend.Environment{}
	for name, text := range properties {
		var v backend.EnvironmentValue
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("the environments of the stack: %s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

// undoTime is how long the removal of an unusable new environment is tried after the user has interrupted the creation. Without an interruption
// only the patience with the service ends it.
const undoTime = 10 * time.Second

// CreateEnvironment implements [backend.Environments]. If setting the definition fails, or the user interrupts it, the new
// environment is removed.
func (b *Backend) CreateEnvironment(ctx context.Context, organization, name string, definition []byte) error {
	project, short, _ := strings.Cut(name, "/")
	all := b.client.Environments(organization)
	err := all.Create(context.WithoutCancel(ctx), project, short) // an interruption would leave it uncertain whether it was made
	if api.Is(err, http.StatusConflict) {
		return fmt.Errorf("there is an environment %s/%s already", organization, name)
	}
	if err != nil {
		return fmt.Errorf("make the environment %s/%s: %w", organization, name, err)
	}
	if err = set(ctx, all, project, short, definition); err == nil {
		return nil
	}
	undo, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(undoTime, stop) })()
	if left := all.Delete(undo, project, short); left != nil {
		return fmt.Errorf("the environment %s/%s was made, is empty, and could not be removed (%v): %w", organization, name, left, err)
	}
	return fmt.Errorf("the environment %s/%s was not made: %w", organization, name, err)
}

// set gives an environment a definition.
func set(ctx context.Context, all api.Environments, project, name string, definition []byte) error {
	wrong, err := all.Set(ctx, project, name, definition)
	var refused *api.AnswerError
	if errors.As(err, &refused) && len(refused.Diagnostics) > 0 {
		wrong, err = refused.Diagnostics, nil
	}
	if len(wrong) > 0 {
		return problemsOf(wrong)
	}
	return err
}

func problemsOf(all []api.Diagnostic) *EnvironmentError {
	e := &EnvironmentError{}
	for _, d := range all {
		text := d.Summary
		if d.Detail != "" {
			text += "; " + d.Detail
		}
		if at := d.Range; at.Environment != "" {
			text = fmt.Sprintf("%s:%d:%d: %s", at.Environment, at.Begin.Line, at.Begin.Column, text)
		}
		e.Problems = append(e.Problems, text)
	}
	return e
}
