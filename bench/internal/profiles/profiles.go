package profiles

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// kind is what a profile shows, and how its file ends.
type kind string

const (
	processor kind = "cpu"
	memory    kind = "mem"
)

// Profile has the profiles of a contender in a case, of one or several runs. It is not safe for concurrent use.
type Profile struct {
	key    results.Key
	merged map[kind]*profile.Profile
}

// New returns an empty profile.
func New(k results.Key) *Profile { return &Profile{key: k, merged: map[kind]*profile.Profile{}} }

// Empty reports whether nothing was profiled.
func (p *Profile) Empty() bool { return len(p.merged) == 0 }

// Function profiles a function of this process.
func (p *Profile) Function(f func() error) error {
	var text bytes.Buffer
	if err := pprof.StartCPUProfile(&text); err != nil {
		return fmt.Errorf("profiling %s: %w", p.key.Name(), err)
	}
	before, err := allocated()
	if err == nil {
		err = f()
	}
	after, afterErr := allocated()
	pprof.StopCPUProfile()
	if err := errors.Join(err, afterErr); err != nil {
		return err
	}
	worked, err := profile.ParseData(text.Bytes())
	if err != nil {
		return err
	}
	before.Scale(-1)
	made, err := profile.Merge([]*profile.Profile{after, before})
	if err != nil {
		return err
	}
	return errors.Join(p.add(processor, worked), p.add(memory, made))
}

// allocated returns the profile of what this process has allocated so far.
func allocated() (*profile.Profile, error) {
	runtime.GC() // a profile has what was allocated before the last collection
	var text bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&text, 0); err != nil {
		return nil, err
	}
	return profile.ParseData(text.Bytes())
}

// Files adds the profiles that a process has written, which sluice and pulumi do with --profiling, and the floor with -profiling, and removes their
// files. prefix is the value of the flag. There may be none: other programs write no profiles.
func (p *Profile) Files(prefix string) error {
	files, err := filepath.Glob(prefix + ".*")
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.Remove(file); err != nil {
			return err
		}
		of := kind(strings.TrimPrefix(filepath.Ext(file), "."))
		if of != processor && of != memory || len(text) == 0 {
			continue // a trace, or a process that was killed
		}
		one, err := profile.ParseData(text)
		if err != nil {
			return fmt.Errorf("%s is no profile: %w", file, err)
		}
		if err := p.add(of, one); err != nil {
			return err
		}
	}
	return nil
}

// itself matches the functions that make profiles.
var itself = regexp.MustCompile(`^runtime/pprof\.|/bench/internal/profiles\.allocated$`)

func (p *Profile) add(of kind, one *profile.Profile) error {
	one.FilterSamplesByName(nil, itself, nil, nil)
	for _, label := range [][2]string{
		{"case", p.key.Case}, {"shape", p.key.Shape}, {"latency", p.key.Latency}, {"resources", strconv.Itoa(p.key.Size)}, {"who", p.key.Subject},
	} {
		if label[1] != "" {
			one.SetLabel(label[0], []string{label[1]})
		}
	}
	if p.merged[of] == nil {
		p.merged[of] = one.Compact()
		return nil
	}
	all, err := profile.Merge([]*profile.Profile{p.merged[of], one})
	if err != nil {
		return fmt.Errorf("profiles of %s, %s: %w", p.key.Name(), p.key.Subject, err)
	}
	p.merged[of] = all
	return nil
}

// Write writes the profiles into a folder, which it makes, and returns the names of the files. There are none of a contender that writes no
// profiles.
func (p *Profile) Write(folder string) ([]string, error) {
	var names []string
	for _, of := range []kind{processor, memory} {
		all := p.merged[of]
		if all == nil {
			continue
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := all.Write(&text); err != nil {
			return nil, err
		}
		name := fileName(p.key) + "." + string(of) + ".pb.gz"
		if err := os.WriteFile(filepath.Join(folder, name), text.Bytes(), 0o644); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// fileName is "engine-preview-new_wide_1000_sluice".
func fileName(k results.Key) string {
	var parts []string
	size := ""
	if k.Size > 0 {
		size = strconv.Itoa(k.Size)
	}
	for _, part := range []string{k.Case, k.Shape, k.Latency, size, k.Subject} {
		if part != "" {
			parts = append(parts, strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
					return r
				}
				return '-'
			}, strings.ToLower(strings.ReplaceAll(part, ", ", " "))))
		}
	}
	return strings.Join(parts, "_")
}
