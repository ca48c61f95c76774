package server

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"go.temporal.io/server/common/testing/freeport"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/internal/platform/private"
)

// Home is the folder for a fleet's data on this machine: the data of its server, the key of its payloads, and the logs of its runs.
type Home struct{ directory string }

// FolderName is the name of that folder, beside fleet.yaml.
const FolderName = ".sluice-fleet"

// HomeOf returns the home of the fleet in a folder. It creates a missing one, accessible only to its owner and ignored by git.
func HomeOf(root string) (Home, error) {
	h := Home{filepath.Join(root, FolderName)}
	if err := private.MkdirAll(h.directory, private.Folder); err != nil {
		return h, fmt.Errorf("the folder of the fleet: %w", err)
	}
	if err := own(h.directory); err != nil {
		return h, fmt.Errorf("the folder of the fleet: %w", err)
	}
	ignore := h.path(".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		return h, os.WriteFile(ignore, []byte("*\n"), 0o600)
	}
	return h, nil
}

// Path returns a path in the folder.
func (h Home) Path(parts ...string) string { return h.path(parts...) }

func (h Home) path(parts ...string) string {
	return filepath.Join(append([]string{h.directory}, parts...)...)
}

func (h Home) database() string         { return h.path("temporal.db") }
func (h Home) serverLock() *flock.Flock { return flock.New(h.path("server.lock")) }
func (h Home) usersLock() *flock.Flock  { return flock.New(h.path("users.lock")) }

// Place has the address, the certificate and the tokens of a server. They belong to this server alone: the next one has another address, since
// another program may have taken the port of one that has died, another certificate and other tokens. Clients read the place again for each
// connection.
type Place struct {
	Address     string          `json:"address"`
	HTTP        string          `json:"http"`        // the address of its HTTP API
	Certificate string          `json:"certificate"` // in PEM; only the process has the key
	Tokens      map[Role]string `json:"tokens"`
	PID         int             `json:"pid"` // of the process, for people
}

// begin returns the place for a server of this folder with a certificate.
func begin(certificate []byte) Place {
	next := Place{
		Address: loopback(freeport.MustGetFreePort()), HTTP: loopback(freeport.MustGetFreePort()), Tokens: map[Role]string{}, PID: os.Getpid(),
		Certificate: string(pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: certificate})),
	}
	for _, role := range roles {
		next.Tokens[role] = rand.Text()
	}
	return next
}

const certificateBlock = "CERTIFICATE"

// shows reports whether a certificate is that of the server.
func (p Place) shows(certificate []byte) bool {
	block, _ := pem.Decode([]byte(p.Certificate))
	return block != nil && bytes.Equal(block.Bytes, certificate)
}

func (h Home) publish(p Place) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	// A reader gets the complete old or new file.
	return files.ReplacePrivate(h.path("server.json"), files.Content(append(text, '\n')))
}

func (h Home) place() (Place, error) {
	text, err := os.ReadFile(h.path("server.json"))
	if err != nil {
		return Place{}, err
	}
	var p Place
	if err := json.Unmarshal(text, &p); err != nil || p.Address == "" {
		return Place{}, fmt.Errorf("%s is damaged: remove it", h.path("server.json"))
	}
	if p.Certificate == "" || len(p.Tokens) == 0 {
		return Place{}, fmt.Errorf("%s is of an earlier version: end the process %d, which is the server of the fleet, or wait until nobody uses it", h.path("server.json"), p.PID)
	}
	return p, nil
}
