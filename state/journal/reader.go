package journal

import (
	"encoding/json"
	"fmt"
)

// Journal is the content of a journal. Its records have been checked against their checksums.
type Journal struct {
	Header Header // the zero Header if it was not written; then nothing has been done under the journal
	// Torn is the number of bytes at the end from an incomplete write: of records that were never reported as durable.
	Torn int

	size    int64 // of the whole records
	entries []*entry
}

// isBegun reports whether there is a header.
func (j *Journal) isBegun() bool { return j.Header.Format != 0 }

// wrote reports whether a checkpoint is the base of the journal or was written under it.
func (j *Journal) wrote(digest string) bool {
	if digest == j.Header.Base.Digest {
		return true
	}
	for _, e := range j.entries {
		if e.Kind == kindCheckpoint && e.Digest == digest {
			return true
		}
	}
	return false
}

// isCompacted reports whether a checkpoint contains all records of the journal.
func (j *Journal) isCompacted(digest string) bool {
	for i := len(j.entries) - 1; i >= 0; i-- {
		e := j.entries[i]
		if e.Kind != kindCheckpoint {
			return false
		}
		if e.Digest == digest {
			return true
		}
	}
	return false
}

// FormatError reports that a later version of sluice wrote a journal.
type FormatError struct {
	Name   string // where the journal is
	Format int
	Tool   string // the program that wrote it
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s was written by %s in format %d, and this version of sluice reads format %d; use that version "+
		"to recover it", e.Name, e.Tool, e.Format, format)
}

// DamagedError reports that a journal cannot be read from some place on, although it was complete there once: it has been
// damaged since. An incomplete write is no damage; see [Journal.Torn].
type DamagedError struct {
	Name   string // where the journal is
	Offset int64  // of the first byte that cannot be read
	Whole  int    // records before it
	Err    error  // the problem there
	// Report describes the whole records, none of which has been applied; nil if not even the header can be read.
	Report *Report
	// Unlisted is why the report does not have all of them.
	Unlisted error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d, after %d records: %v", e.Name, e.Offset, e.Whole, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Read reads a journal, whose name is for messages. A torn tail is left out. Errors are a [*FormatError] or a [*DamagedError],
// which comes with the whole records before the damage if the header can be read.
func Read(data []byte, name string) (*Journal, error) {
	payload, rest, ok := cutFrame(data)
	if !ok {
		if err := (tail{data, 0, -1, -1}).fault(); err != nil {
			return nil, &DamagedError{Name: name, Err: err}
		}
		return &Journal{Torn: len(data)}, nil
	}
	j := &Journal{}
	if err := json.Unmarshal(payload, &j.Header); err != nil {
		return nil, &DamagedError{Name: name, Err: err}
	}
	if j.Header.Format != format {
		return nil, &FormatError{name, j.Header.Format, j.Header.Tool}
	}
	group := 0
	for {
		j.size = int64(len(data) - len(rest))
		payload, after, ok := cutFrame(rest)
		if !ok {
			break
		}
		e, err := readEntry(payload, len(j.entries)+1, group)
		if err != nil {
			return j, j.damaged(name, err)
		}
		j.entries, group, rest = append(j.entries, e), e.Group, after
	}
	if err := (tail{rest, j.size, len(j.entries), group}).fault(); err != nil {
		return j, j.damaged(name, err)
	}
	j.Torn = len(rest)
	return j, nil
}

// damaged reports damage after the records of j.
func (j *Journal) damaged(name string, err error) error {
	return &DamagedError{Name: name, Offset: j.size, Whole: len(j.entries), Err: err}
}

// report begins a report with the parts that the header has.
func (j *Journal) report() *Report {
	return &Report{Tool: j.Header.Tool, Operation: j.Header.Operation, Start: j.Header.Start, Torn: j.Torn}
}

func readEntry(payload []byte, number, group int) (*entry, error) {
	e := &entry{}
	if err := json.Unmarshal(payload, e); err != nil {
		return nil, err
	}
	if e.Number != number || e.Group < group || e.Group > group+1 {
		return nil, fmt.Errorf("record %d of group %d follows record %d of group %d", e.Number, e.Group, number-1, group)
	}
	return e, nil
}
