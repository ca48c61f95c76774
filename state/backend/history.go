package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/state/store"
)

// Update is the record of one operation (state.md 4.7), with its fields in the order in which they are written.
type Update struct {
	Kind            string            `json:"kind"`      // "update", "refresh", "destroy", "resource-import"
	StartTime       int64             `json:"startTime"` // unix seconds
	Message         string            `json:"message"`
	Environment     map[string]string `json:"environment"`
	Config          json.RawMessage   `json:"config"`  // state.md 6.5, with ciphertexts
	Version         int               `json:"version"` // always 0
	Result          string            `json:"result"`  // "succeeded" or "failed"
	EndTime         int64             `json:"endTime"` // unix seconds
	ResourceChanges map[string]int    `json:"resourceChanges,omitempty"`
}

// The results of an [Update].
const (
	ResultSucceeded = "succeeded"
	ResultFailed    = "failed"
)

// WriteHistory implements [Stack].
func (s *fileStack) WriteHistory(ctx context.Context, u Update) error {
	if err := s.backend.prepareWrite(ctx); err != nil {
		return err
	}
	if u.Environment == nil {
		u.Environment = map[string]string{}
	}
	if len(u.Config) == 0 {
		u.Config = json.RawMessage("{}")
	}
	b, err := json.MarshalIndent(u, "", "    ")
	if err != nil {
		return fmt.Errorf("history of stack %s: %w", s.ref, err)
	}
	now := s.backend.options.Now().UnixNano()
	stem := fmt.Sprintf("%s/%s-%d", s.historyFolder(), s.ref.Name, now)
	extension := ".json" + s.backend.compression.extension()
	packed, err := s.backend.compression.pack(b)
	if err != nil {
		return err
	}
	if _, err := s.backend.store.Write(ctx, stem+".history"+extension, packed, store.Condition{}); err != nil {
		return fmt.Errorf("history of stack %s: %w", s.ref, err)
	}
	current, info, err := s.current(ctx)
	if err != nil || info.Key == "" {
		return err
	}
	// Real copies, unlike the .bak file: damage to the stack file must not reach them.
	kept := ".json" + strings.TrimPrefix(current, s.base())
	if err := s.backend.store.Copy(ctx, current, stem+".checkpoint"+kept); err != nil {
		return fmt.Errorf("history of stack %s: %w", s.ref, err)
	}
	if s.backend.flag("DISABLE_CHECKPOINT_BACKUPS") || s.backend.isTrue("PULUMI_DISABLE_CHECKPOINT_BACKUPS") {
		return nil
	}
	backup := fmt.Sprintf("%s/%s.%d%s", s.backupFolder(), s.ref.Name, now, kept)
	if err := s.backend.store.Copy(ctx, current, backup); err != nil {
		return fmt.Errorf("back up stack %s: %w", s.ref, err)
	}
	return nil
}

// History implements [Stack].
func (s *fileStack) History(ctx context.Context) (updates []Update, warnings []string, err error) {
	infos, err := s.backend.store.List(ctx, s.historyFolder()+"/")
	if err != nil {
		return nil, nil, fmt.Errorf("history of stack %s: %w", s.ref, err)
	}
	slices.Reverse(infos) // names end in the time, and are sorted
	for _, i := range infos {
		name := strings.TrimSuffix(strings.TrimSuffix(i.Key, ".gz"), ".zst")
		if !strings.HasSuffix(name, ".history.json") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		u, err := s.readUpdate(ctx, i.Key)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("a record of the history was skipped: %v", err))
			continue
		}
		updates = append(updates, u)
	}
	return updates, warnings, nil
}

func (s *fileStack) readUpdate(ctx context.Context, key string) (u Update, err error) {
	b, _, err := s.backend.store.Read(ctx, key)
	if err == nil {
		b, err = unpack(b)
	}
	if err == nil {
		err = json.Unmarshal(b, &u)
	}
	if err != nil {
		return u, fmt.Errorf("%s: %w", s.backend.store.Name(key), err)
	}
	return u, nil
}

// Started returns the start of the operation.
func (u Update) Started() time.Time { return time.Unix(u.StartTime, 0).UTC() }

// Ended returns the end of the operation.
func (u Update) Ended() time.Time { return time.Unix(u.EndTime, 0).UTC() }
