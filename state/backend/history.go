package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
func (s *fileStack) WriteHistory(_ context.Context, u Update) error {
	if err := s.backend.prepareWrite(); err != nil {
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
	stem := filepath.Join(s.historyDir(), fmt.Sprintf("%s-%d", s.ref.Name, now))
	extension := ".json" + s.backend.compression.extension()
	packed, err := s.backend.compression.pack(b)
	if err != nil {
		return err
	}
	if err := s.backend.writer.replace(stem+".history"+extension, packed); err != nil {
		return fmt.Errorf("history of stack %s: %w", s.ref, err)
	}
	current := s.current()
	if _, err := os.Stat(current); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	// Real copies, unlike the .bak file: damage to the stack file must not reach them.
	kept := ".json" + strings.TrimPrefix(current, s.base())
	if err := s.backend.writer.copyFile(current, stem+".checkpoint"+kept); err != nil {
		return fmt.Errorf("history of stack %s: %w", s.ref, err)
	}
	if s.backend.flag("DISABLE_CHECKPOINT_BACKUPS") || s.backend.isTrue("PULUMI_DISABLE_CHECKPOINT_BACKUPS") {
		return nil
	}
	backup := filepath.Join(s.backupDir(), fmt.Sprintf("%s.%d%s", s.ref.Name, now, kept))
	if err := s.backend.writer.copyFile(current, backup); err != nil {
		return fmt.Errorf("back up stack %s: %w", s.ref, err)
	}
	return nil
}

// History implements [Stack].
func (s *fileStack) History(ctx context.Context) (updates []Update, warnings []string, err error) {
	entries, err := os.ReadDir(s.historyDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("history of stack %s: %w", s.ref, err)
	}
	slices.Reverse(entries) // names end in the time, and are sorted
	for _, e := range entries {
		name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".zst")
		if !strings.HasSuffix(name, ".history.json") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		u, err := readUpdate(filepath.Join(s.historyDir(), e.Name()))
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("a record of the history was skipped: %v", err))
			continue
		}
		updates = append(updates, u)
	}
	return updates, warnings, nil
}

func readUpdate(path string) (u Update, err error) {
	b, err := os.ReadFile(path)
	if err == nil {
		b, err = unpack(b)
	}
	if err == nil {
		err = json.Unmarshal(b, &u)
	}
	if err != nil {
		return u, fmt.Errorf("%s: %w", path, err)
	}
	return u, nil
}

// Started returns the start of the operation.
func (u Update) Started() time.Time { return time.Unix(u.StartTime, 0).UTC() }

// Ended returns the end of the operation.
func (u Update) Ended() time.Time { return time.Unix(u.EndTime, 0).UTC() }
