package autolog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	timeFormat = "20060102T150405.000Z"
	extension  = ".jsonl"
)

// folder returns the folder of the logs. It has a folder for each stack.
func folder(home string) string { return filepath.Join(home, "sluice", "logs") }

// escape returns the name of the folder of a stack.
func escape(stack string) string { return url.PathEscape(stack) }

// Limits bound the logs of a home folder.
type Limits struct {
	Count int
	Age   time.Duration
	Size  int64 // bytes in all
}

// The variables of limits, which are Pulumi's, and the one that switches logs off.
const (
	envAge  = "PULUMI_LOG_ROTATION_MAX_AGE_DAYS"
	envSize = "PULUMI_LOG_ROTATION_MAX_TOTAL_MB"
	EnvOn   = "PULUMI_AUTOMATIC_LOGS"
)

// LimitsOf returns the limits that the environment sets: at most 200 logs, 7 days and 500 MB, unless it says otherwise.
func LimitsOf(lookup func(name string) (string, bool)) (Limits, error) {
	l := Limits{Count: 200, Age: 7 * 24 * time.Hour, Size: 500 << 20}
	for name, set := range map[string]func(n int64){
		envAge:  func(n int64) { l.Age = time.Duration(n) * 24 * time.Hour },
		envSize: func(n int64) { l.Size = n << 20 },
	} {
		text, given := lookup(name)
		if !given || text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n < 0 {
			return l, fmt.Errorf("%s=%s: it must be a number", name, text)
		}
		set(n)
	}
	return l, nil
}

// Entry is a log.
type Entry struct {
	Path      string
	Stack     string // "organization/project/stack"
	Operation string
	PID       string // of the process that has written it
	Began     time.Time
	Size      int64
}

// IsOf reports whether the log is of a stack with this name, with or without organization and project; "" is any.
func (e Entry) IsOf(stack string) bool {
	return stack == "" || e.Stack == stack || strings.HasSuffix(e.Stack, "/"+stack)
}

// Is reports whether a text is the path or the file name of the log.
func (e Entry) Is(name string) bool { return name == e.Path || name == filepath.Base(e.Path) }

// List returns the logs of a home folder, the newest first. Files with other names are none.
func List(home string) ([]Entry, error) {
	var out []Entry
	root := folder(home)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // there are none, or another process has just removed it
		}
		if err != nil || d.IsDir() {
			return err
		}
		e, is := entryOf(path)
		if !is {
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		e.Size = info.Size()
		out = append(out, e)
		return nil
	})
	slices.SortStableFunc(out, func(x, y Entry) int { return cmp.Or(y.Began.Compare(x.Began), cmp.Compare(x.Path, y.Path)) })
	return out, err
}

// entryOf reads the name of a file: the time, the operation and the process.
func entryOf(path string) (Entry, bool) {
	name, is := strings.CutSuffix(filepath.Base(path), extension)
	at, rest, dashed := strings.Cut(name, "-")
	end := strings.LastIndexByte(rest, '-')
	stack, err := url.PathUnescape(filepath.Base(filepath.Dir(path)))
	if !is || !dashed || end < 0 || err != nil {
		return Entry{}, false
	}
	began, err := time.Parse(timeFormat, at)
	return Entry{Path: path, Stack: stack, Operation: rest[:end], PID: rest[end+1:], Began: began}, err == nil
}

// Remove removes a log, and the folder of its stack if that is empty.
func Remove(e Entry) error {
	if err := os.Remove(e.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_ = os.Remove(filepath.Dir(e.Path)) // fails if there are other logs
	return nil
}

// prune removes the oldest logs beyond the limits. The newest one always stays.
func prune(home string, l Limits, now time.Time) error {
	all, err := List(home)
	if err != nil {
		return err
	}
	var size int64
	for i, e := range all {
		size += e.Size
		if i > 0 && (i >= l.Count || size > l.Size || now.Sub(e.Began) > l.Age) {
			err = errors.Join(err, Remove(e))
		}
	}
	return err
}
