package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/state/backend"
)

// changedSettings returns the settings that have changed since the last successful update: changes that a later, failed update
// did not make may come from them as well. If there is no such update, or its record cannot be read, it returns none.
func changedSettings(ctx context.Context, j *Job) []why.ChangedSetting {
	last, err := j.Stack.State.LastUpdate(ctx, func(u backend.Update) bool {
		return u.Kind == "update" && u.Result == backend.ResultSucceeded
	})
	if err != nil || last == nil {
		return nil
	}
	config, err := historyConfig(j)
	var before, now map[string]any
	if err != nil || json.Unmarshal(last.Config, &before) != nil || json.Unmarshal(config, &now) != nil {
		return nil
	}
	keys := make(map[string]workspace.Key, len(j.values))
	for k := range j.values {
		keys[k.String()] = k
	}
	all := maps.Clone(now)
	maps.Copy(all, before)
	var out []why.ChangedSetting
	for _, key := range slices.Sorted(maps.Keys(all)) {
		was, is := settingText(before[key]), settingText(now[key])
		if was == is {
			continue
		}
		s := why.ChangedSetting{Key: key, Old: was, New: is, Position: settingPosition(j, keys[key])}
		if isCiphertext(was) || isCiphertext(is) {
			s.Old, s.New, s.Secret = "", "", true
		}
		out = append(out, s)
	}
	return out
}

// settingText converts a setting from the form of the history to the text that a program gets, "" if there is none.
func settingText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "" // v was read from JSON
	}
	return string(b)
}

// isCiphertext reports whether the text of a setting contains a ciphertext.
func isCiphertext(text string) bool { return strings.Contains(text, `{"secure":`) }

// settingPosition returns the place of a setting in the file of the stack or the project, or "" if it is in neither.
func settingPosition(j *Job, k workspace.Key) string {
	s := j.Stack
	if line := s.Settings.Line(k); line > 0 {
		return fmt.Sprintf("%s:%d", relativeTo(s.Session.Project.Path, s.Settings.Path), line)
	}
	for _, d := range s.Session.Project.Declarations {
		if d.Key == k && d.Line > 0 {
			return fmt.Sprintf("%s:%d", filepath.Base(s.Session.Project.Path), d.Line)
		}
	}
	return ""
}

// relativeTo returns the path of a file relative to the directory of the project file.
func relativeTo(project, file string) string {
	if relative, err := filepath.Rel(filepath.Dir(project), file); err == nil {
		return filepath.ToSlash(relative)
	}
	return file
}
