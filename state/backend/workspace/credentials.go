package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/platform/private"
)

// ErrEncrypted is wrapped by the error for an encrypted credentials file that cannot be opened. Such a file is left alone.
var ErrEncrypted = errors.New("the credentials file is encrypted and cannot be opened here; set PULUMI_BACKEND_URL and PULUMI_ACCESS_TOKEN, " +
	"or forget all backends, which removes it")

// ErrNoBackend is the error if no backend is selected.
var ErrNoBackend = advice.With(errors.New("no backend is selected; set PULUMI_BACKEND_URL, or put backend.url into the project file"),
	advice.On(advice.LogIn))

// Credentials is the file that names the current backend.
type Credentials struct {
	path    string
	sealing sealing
}

// NewCredentials returns the credentials file: in PULUMI_CREDENTIALS_PATH if that is set, else in home.
func NewCredentials(home string, lookup func(name string) (string, bool)) Credentials {
	if dir, ok := lookup("PULUMI_CREDENTIALS_PATH"); ok && dir != "" {
		home = dir
	}
	return Credentials{filepath.Join(home, "credentials.json"), newSealing(lookup)}
}

// Origin is the place that names a backend.
type Origin int

// The origins, the one that takes precedence first.
const (
	FromNowhere     Origin = iota
	FromEnvironment        // PULUMI_BACKEND_URL
	FromProject            // backend.url in the project file
	FromCredentials        // the latest login
)

// BackendURL returns the URL of the backend to use, and where it is from ([state.md 4.1]): PULUMI_BACKEND_URL, else backend.url in the project
// file, else the current one of the credentials. If there is none the error is [ErrNoBackend].
//
// [state.md 4.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#41-which-one
func (c Credentials) BackendURL(lookup func(name string) (string, bool), projectURL string) (string, Origin, error) {
	if u, ok := lookup("PULUMI_BACKEND_URL"); ok && u != "" {
		return u, FromEnvironment, nil
	}
	if projectURL != "" {
		return projectURL, FromProject, nil
	}
	f, err := c.read()
	if err != nil {
		return "", FromCredentials, err
	}
	if current := f.text("current"); current != "" {
		return current, FromCredentials, nil
	}
	return "", FromNowhere, ErrNoBackend
}

// Current is the URL of the backend that is logged in to, "" for none.
func (c Credentials) Current() (string, error) {
	f, err := c.read()
	if err != nil {
		return "", err
	}
	return f.text("current"), nil
}

// URLs are the URLs of all backends in the file, sorted.
func (c Credentials) URLs() ([]string, error) {
	f, err := c.read()
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(f.members("accessTokens"))), nil
}

// Login makes the backend the current one. url is the text as the user gave it.
func (c Credentials) Login(url string) error {
	f, err := c.read()
	if err != nil {
		return err
	}
	f.set("current", url)
	f.entry("accessTokens", url, "")
	f.entry("accounts", url, map[string]string{"lastValidatedAt": "0001-01-01T00:00:00Z"})
	return c.write(f)
}

// Account is the account at a service, as recorded in the file.
type Account struct {
	AccessToken      string            `json:"accessToken,omitempty"`
	Username         string            `json:"username,omitempty"`
	Organizations    []string          `json:"organizations,omitempty"`
	LastValidatedAt  time.Time         `json:"lastValidatedAt"`
	Insecure         bool              `json:"insecure,omitempty"`
	TokenInformation *TokenInformation `json:"tokenInformation,omitempty"`
}

// TokenInformation describes an access token that is not a person's.
type TokenInformation struct {
	Name         string `json:"name"`
	Organization string `json:"organization,omitempty"`
	Team         string `json:"team,omitempty"`
}

// Account returns the account at a service, the zero Account if there is none.
func (c Credentials) Account(url string) (Account, error) {
	f, err := c.read()
	if err != nil {
		return Account{}, err
	}
	var a Account
	if raw, known := f.members("accounts")[url]; known {
		if err := json.Unmarshal(raw, &a); err != nil {
			return Account{}, fmt.Errorf("the credentials in %s: the account at %s: %w", c.path, url, err)
		}
	}
	if a.AccessToken == "" {
		_ = json.Unmarshal(f.members("accessTokens")[url], &a.AccessToken) // anything but a text is no token
	}
	return a, nil
}

// LoginToService makes a service the current backend, with an account there.
func (c Credentials) LoginToService(url string, a Account) error {
	f, err := c.read()
	if err != nil {
		return err
	}
	f.set("current", url)
	f.entry("accessTokens", url, a.AccessToken)
	f.entry("accounts", url, a)
	return c.write(f)
}

// Logout removes a backend. When the last one is removed, so is the file.
func (c Credentials) Logout(url string) error {
	f, err := c.read()
	if err != nil {
		return err
	}
	if f.text("current") == url {
		delete(f, "current")
	}
	left := f.remove("accessTokens", url)
	f.remove("accounts", url)
	if left == 0 {
		return private.Remove(c.path)
	}
	return c.write(f)
}

// write writes the credentials file.
func (c Credentials) write(f file) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "    ")
	if err := enc.Encode(f); err != nil {
		return err
	}
	out, err := c.sealing.close(c.path, bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	if err != nil {
		return err
	}
	return replace(c.path, out)
}

// Forget removes the credentials file, also one that cannot be read, and with key the key that encrypts it, which other credentials files of
// the user share.
func (c Credentials) Forget(key bool) error {
	if err := private.Remove(c.path); err != nil || !key {
		return err
	}
	return c.sealing.keys.Delete()
}

// file is the content of the credentials file. Unknown members are kept.
type file map[string]json.RawMessage

// readMembers reads a JSON object; one that does not exist has no members. what is the name of the file in errors.
func readMembers(path, what string) (file, error) {
	return readOpened(path, what, func(text []byte) ([]byte, error) { return text, nil })
}

// readOpened is readMembers for a file whose text open returns.
func readOpened(path, what string, open func([]byte) ([]byte, error)) (file, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, nil
	}
	if err != nil {
		return nil, err
	}
	if b, err = open(b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f, err := membersOf(b)
	if err != nil {
		return nil, fmt.Errorf("the %s in %s: %w; put the file right, or remove it and log in or select again", what, path, err)
	}
	return f, nil
}

func (c Credentials) read() (file, error) {
	if err := c.sealing.check(); err != nil {
		return nil, err
	}
	f, err := readOpened(c.path, "credentials", c.sealing.open)
	if err == nil && len(f) > 0 && !f.isKnown() {
		err = fmt.Errorf("%s: %w: its form is not known", c.path, ErrEncrypted)
	}
	return f, err
}

// isKnown reports whether the file has the known form.
func (f file) isKnown() bool {
	for _, name := range [...]string{"current", "accessTokens", "accounts", "credentialHelper"} {
		if _, ok := f[name]; ok {
			return true
		}
	}
	return false
}

func (f file) text(name string) string {
	var s string
	_ = json.Unmarshal(f[name], &s) // anything but a string is no URL
	return s
}

// membersOf returns the members of an object, as a map that can be changed; null has none.
func membersOf(text []byte) (file, error) {
	m := file{}
	err := json.Unmarshal(text, &m)
	if err != nil || m == nil {
		m = file{}
	}
	return m, err
}

func (f file) set(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and maps of them always marshal
	}
	f[name] = b
}

func (f file) members(name string) file {
	m, _ := membersOf(f[name]) // damage counts as empty
	return m
}

func (f file) entry(name, url string, v any) {
	m := f.members(name)
	m.set(url, v)
	f.set(name, m)
}

// remove removes an entry and returns how many are left.
func (f file) remove(name, url string) int {
	m := f.members(name)
	delete(m, url)
	f.set(name, m)
	return len(m)
}
