package providertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

// Directory is a table in a directory that several processes may share: one file for each record, and one for each
// removed record. It is for tests with real processes; reading everything costs a read of every file.
type Directory struct{ path string }

const (
	recordSuffix  = ".json"
	removedSuffix = ".removed"
)

// OpenDirectory returns the table in a directory and makes the directory if it does not exist.
func OpenDirectory(path string) (*Directory, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("open the cloud: %w", err)
	}
	return &Directory{path: path}, nil
}

type recordFile struct {
	ID     string          `json:"id"`
	URN    urn.URN         `json:"urn"`
	Type   urn.Type        `json:"type"`
	Inputs json.RawMessage `json:"inputs"`
}

var recordWire = property.WireOptions{KeepSecrets: true, KeepReferences: true, Unknowns: property.KeepUnknowns}

func (d *Directory) file(id, suffix string) string {
	return filepath.Join(d.path, url.PathEscape(id)+suffix)
}

// Read returns a record.
func (d *Directory) Read(id string) (Record, bool, error) {
	text, err := os.ReadFile(d.file(id, recordSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, err
	}
	r, err := parseRecord(text)
	return r, err == nil, err
}

func parseRecord(text []byte) (Record, error) {
	var f recordFile
	if err := json.Unmarshal(text, &f); err != nil {
		return Record{}, err
	}
	var s structpb.Struct
	if err := protojson.Unmarshal(f.Inputs, &s); err != nil {
		return Record{}, err
	}
	inputs, err := property.UnmarshalStruct(&s, recordWire)
	return Record{ID: f.ID, URN: f.URN, Type: f.Type, Inputs: inputs}, err
}

// Write adds or replaces a record. A reader sees the old or the new one, never a part.
func (d *Directory) Write(r Record) error {
	s, err := property.MarshalStruct(r.Inputs, recordWire)
	if err != nil {
		return err
	}
	inputs, err := protojson.Marshal(s)
	if err != nil {
		return err
	}
	text, err := json.Marshal(recordFile{ID: r.ID, URN: r.URN, Type: r.Type, Inputs: inputs})
	if err != nil {
		return err
	}
	return files.ReplacePrivate(d.file(r.ID, recordSuffix), files.Content(text))
}

// Remove removes a record.
func (d *Directory) Remove(id string) error {
	err := os.Rename(d.file(id, recordSuffix), d.file(id, removedSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Made counts the records that a URN ever had, by the IDs that [Cloud] generates.
func (d *Directory) Made(u urn.URN) (int, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range entries {
		name, isRecord := strings.CutSuffix(e.Name(), recordSuffix)
		if !isRecord {
			name, isRecord = strings.CutSuffix(e.Name(), removedSuffix)
		}
		id, err := url.PathUnescape(name)
		if isRecord && err == nil && strings.HasPrefix(id, idStem(u)) {
			n++
		}
	}
	return n, nil
}

// All returns every record in the order of IDs.
func (d *Directory) All() ([]Record, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	table := NewMemory()
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), recordSuffix) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(d.path, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		r, err := parseRecord(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		if err := table.Write(r); err != nil {
			return nil, err
		}
	}
	return table.All()
}
