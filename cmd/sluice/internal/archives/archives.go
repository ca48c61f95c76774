package archives

import (
	"context"
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
)

// Contents has the hashes of the contents of archive files, by the hashes of their bytes. It is safe for concurrent use.
type Contents struct {
	mu    sync.Mutex
	known map[string]string // of archives that are or may be recorded
	used  map[string]bool   // which of them an operation has declared since they were read
	seen  map[string]string // of all archives that were looked into
}

// most is the maximal number of archives that are kept.
const most = 200

// Read reads what [Contents.Text] has written. Anything else is read as empty.
func Read(text string) *Contents {
	c := &Contents{used: map[string]bool{}, seen: map[string]string{}}
	if json.Unmarshal([]byte(text), &c.known) != nil || c.known == nil {
		c.known = map[string]string{}
	}
	return c
}

// Text returns the contents as a text, those first that operations have used. It is "" if there are none.
func (c *Contents) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) == 0 {
		return ""
	}
	kept := map[string]string{}
	for _, used := range []bool{true, false} {
		for _, hash := range slices.Sorted(maps.Keys(c.known)) {
			if c.used[hash] == used && len(kept) < most {
				kept[hash] = c.known[hash]
			}
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return "" // texts always marshal
	}
	return string(text)
}

// Stage returns the stage for the slot Located. Paths of archives are relative to directory. What is learned of archives goes into c.
func (c *Contents) Stage(directory string) func(stages.Operation) pipeline.Stage[stages.Located, stages.Located] {
	reader := property.AssetReader{Dir: directory}
	return func(op stages.Operation) pipeline.Stage[stages.Located, stages.Located] {
		return pipeline.Stage[stages.Located, stages.Located]{
			Name: "archives", Workers: runtime.GOMAXPROCS(0),
			Run: func(ctx context.Context, l stages.Located, emit pipeline.Emit[stages.Located]) error {
				if !l.IsManaged() {
					return emit(l)
				}
				var recorded property.Map
				if l.Old != nil {
					recorded = l.Old.Inputs
				}
				goal := *l.Goal
				goal.Inputs = property.WithArchiveHashes(goal.Inputs, recorded, func(now property.Archive, recorded string) string {
					hash := c.hash(ctx, reader, now, recorded)
					if hash != now.Hash {
						op.Diagnose(l.URN, stages.Debug, "the archive "+now.Path+" has the contents of the recorded one, and so counts as the same")
					}
					return hash
				})
				l.Goal = &goal
				return emit(l)
			},
		}
	}
}

// hash returns the hash for an archive: the recorded one if the contents are the same.
func (c *Contents) hash(ctx context.Context, reader property.AssetReader, now property.Archive, recorded string) string {
	contents := c.of(now.Hash)
	if contents == "" {
		var err error
		if contents, err = property.ContentsHash(ctx, reader, now); err != nil {
			return now.Hash // nothing is known of its contents, so it is compared by its bytes
		}
	}
	return c.choose(now.Hash, contents, recorded)
}

// of returns the hash of the contents behind a hash, "" if they are not known.
func (c *Contents) of(hash string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.known[hash]; known != "" {
		return known
	}
	return c.seen[hash]
}

// choose returns the recorded hash if its contents are the same, else the other one.
func (c *Contents) choose(hash, contents, recorded string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[hash] = contents
	if recorded != "" && c.known[recorded] == contents {
		hash = recorded
	}
	c.known[hash], c.used[hash] = contents, true
	return hash
}
