package sim

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
	"sync"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/property"
)

// Record is one resource of a cloud.
type Record struct {
	ID         string
	Name       string
	Generation int      // 1 when made, one more with every change
	Computed   []string // names of values that the cloud makes up
	Properties property.Map
}

// Cloud is a fake cloud. Its methods may be called from many goroutines.
type Cloud struct {
	dir string // "" for memory

	mu       sync.Mutex // guards the fields below, and the files
	records  map[string]Record
	deleted  map[string]bool
	attempts map[string]int
}

// NewCloud returns a cloud in memory.
func NewCloud() *Cloud {
	return &Cloud{records: map[string]Record{}, deleted: map[string]bool{}, attempts: map[string]int{}}
}

// OpenCloud returns the cloud in a directory, which is created if it does not exist.
func OpenCloud(dir string) (*Cloud, error) {
	c := NewCloud()
	c.dir = dir
	return c, os.MkdirAll(dir, 0o755)
}

// file is a record as it is in its file.
type file struct {
	Name       string          `json:"name,omitempty"`
	Generation int             `json:"generation"`
	Computed   []string        `json:"computed,omitempty"`
	Properties json.RawMessage `json:"properties"`
}

func (c *Cloud) path(id string) (string, error) {
	if id == "" || strings.ContainsAny(id, `/\`) || strings.HasPrefix(id, ".") {
		return "", fmt.Errorf("%q cannot be an ID in a cloud: it names a file", id)
	}
	return filepath.Join(c.dir, id+".json"), nil
}

// Get returns a resource.
func (c *Cloud) Get(ctx context.Context, id string) (Record, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		r, ok := c.records[id]
		return r, ok, nil
	}
	path, err := c.path(id)
	if err != nil {
		return Record{}, false, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, err
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return Record{}, false, fmt.Errorf("%s: %w", path, err)
	}
	m, err := property.DecodeState(ctx, f.Properties, property.StateDecodeOptions{})
	if err != nil {
		return Record{}, false, fmt.Errorf("%s: properties: %w", path, err)
	}
	return Record{ID: id, Name: f.Name, Generation: f.Generation, Computed: f.Computed, Properties: m}, true, nil
}

// Put makes or changes a resource.
func (c *Cloud) Put(ctx context.Context, r Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.deleted, r.ID)
	if c.dir == "" {
		c.records[r.ID] = r
		return nil
	}
	path, err := c.path(r.ID)
	if err != nil {
		return err
	}
	properties, err := property.EncodeState(ctx, r.Properties, property.StateOptions{})
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(file{r.Name, r.Generation, r.Computed, properties}, "", "  ")
	if err != nil {
		return err
	}
	// A reader sees the whole of the old or the new file.
	return files.Replace(path, 0o644, files.Content(append(text, '\n')))
}

// Delete deletes a resource. It succeeds if the resource does not exist.
func (c *Cloud) Delete(id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		delete(c.records, id)
		c.deleted[id] = true
		return nil
	}
	path, err := c.path(id)
	if err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// IDs lists the IDs of the existing resources, in order.
func (c *Cloud) IDs() ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	if c.dir == "" {
		for id := range c.records {
			out = append(out, id)
		}
		slices.Sort(out)
		return out, nil
	}
	entries, err := os.ReadDir(c.dir)
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && !strings.HasPrefix(id, ".") {
			out = append(out, id)
		}
	}
	return out, err
}

// adopts reports whether a cloud in memory accepts an unknown ID as a resource of an earlier process: the cloud in memory
// ends with the process, and the state does not.
func (c *Cloud) adopts(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dir == "" && !c.deleted[id]
}

// attempt counts the attempts of something. A cloud in a directory counts across processes, so that a call that failed at
// random can succeed another time.
func (c *Cloud) attempt(what string) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dir == "" {
		c.attempts[what]++
		return c.attempts[what], nil
	}
	path := filepath.Join(c.dir, ".attempts")
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &c.attempts)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	c.attempts[what]++
	if text, err = json.Marshal(c.attempts); err != nil {
		return 0, err
	}
	return c.attempts[what], os.WriteFile(path, text, 0o644)
}
