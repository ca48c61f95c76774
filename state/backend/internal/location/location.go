package location

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/store"
)

// location is a parsed file:// URL (state.md 4.2).
type location struct {
	dir       string // absolute
	createDir bool
	dirMode   os.FileMode // 0: the URL names none
}

// ErrScheme is wrapped by the error for backends that cannot be used.
var ErrScheme = errors.New("unsupported backend")

// Open opens the store that a URL names. stores are the openers for other schemes than file, by scheme; environment, which may
// be nil, looks up variables for them.
func Open(
	ctx context.Context, url string, environment func(name string) (string, bool), stores map[string]store.Opener,
) (store.Store, error) {
	scheme, _, found := strings.Cut(url, "://")
	opener, known := stores[scheme]
	switch {
	case !found:
		return nil, fmt.Errorf("%w %q: a backend is named by a URL such as file://~ or file:///absolute/path", ErrScheme, url)
	case scheme == "file":
		return openDir(url)
	case known:
		if environment == nil {
			environment = func(string) (string, bool) { return "", false }
		}
		return opener(ctx, url, environment)
	case scheme == "http", scheme == "https":
		return nil, fmt.Errorf("%w %q: Pulumi's service cannot be used, only self-managed backends, with URLs of the schemes %s",
			ErrScheme, url, schemes(stores))
	}
	return nil, fmt.Errorf("%w: unknown scheme %q; there are %s", ErrScheme, scheme, schemes(stores))
}

func schemes(stores map[string]store.Opener) string {
	known := append([]string{"file"}, slices.Sorted(maps.Keys(stores))...)
	return strings.Join(known, "://, ") + "://"
}

func openDir(url string) (store.Store, error) {
	home, homeErr := os.UserHomeDir()
	if homeErr != nil && strings.HasPrefix(url, "file://~") {
		return nil, fmt.Errorf("backend URL %q: %w", url, homeErr)
	}
	work, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	l, err := parse(url, home, work)
	if err == nil {
		err = l.open()
	}
	if err != nil {
		return nil, err
	}
	dir := store.NewDir(l.dir)
	if l.dirMode != 0 {
		dir.Share(l.dirMode)
	}
	dir.KeepTidy(layout.Temporary(), layout.Locks()+"/", layout.Own()+"/") // Pulumi takes each file in the first for a lock
	return dir, nil
}

// parse reads a URL with the scheme file. home is the user's home directory, work the working directory.
func parse(text, home, work string) (location, error) {
	path, query, _ := strings.Cut(strings.TrimPrefix(text, "file://"), "?")
	dir, err := resolveDir(path, home, work)
	if err != nil {
		return location{}, fmt.Errorf("backend URL %q: %w", text, err)
	}
	l := location{dir: dir}
	if err := l.parameters(query); err != nil {
		return location{}, fmt.Errorf("backend URL %q: %w", text, err)
	}
	return l, nil
}

func resolveDir(path, home, work string) (string, error) {
	path, err := url.PathUnescape(path)
	if err != nil {
		return "", err
	}
	switch {
	case path == "":
		return "", fmt.Errorf("there is no path; file://~ is the home directory")
	case path == "~":
		return home, nil
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(home, path[2:]), nil
	case strings.HasPrefix(path, "~"):
		return "", fmt.Errorf("%q: home directories of other users are not supported; write the whole path", path)
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	}
	return filepath.Join(work, path), nil
}

// parameters accepts the same parameters as Pulumi. Those about sidecars, signed URLs and temporary files have no
// effect: no sidecars are written, and temporary files are always beside their targets.
func (l *location) parameters(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	for name, vs := range values {
		v := vs[len(vs)-1]
		switch name {
		case "create_dir":
			if l.createDir, err = strconv.ParseBool(v); err != nil {
				return fmt.Errorf("the parameter create_dir is %q: write true or false", v)
			}
		case "dir_file_mode":
			mode, err := strconv.ParseUint(v, 0, 32)
			if err != nil {
				return fmt.Errorf("the parameter dir_file_mode is %q: write permissions such as 0770", v)
			}
			if l.dirMode = os.FileMode(mode); l.dirMode&^os.ModePerm != 0 || l.dirMode&0o700 != 0o700 {
				return fmt.Errorf("the parameter dir_file_mode is %#o: write permissions such as 0770, with all of the owner's", mode)
			}
		case "no_tmp_dir", "metadata", "base_url", "secret_key_path":
		default:
			return fmt.Errorf("unknown parameter %q", name)
		}
	}
	return nil
}

// open makes sure that the directory is there.
func (l location) open() error {
	if l.createDir {
		if err := private.MkdirAll(l.dir, cmp.Or(l.dirMode, private.Folder)); err != nil {
			return fmt.Errorf("unable to open state directory %s: %w", l.dir, err)
		}
	}
	info, err := os.Stat(l.dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("it is not a directory")
	}
	if err != nil {
		return fmt.Errorf("unable to open state directory %s: %w", l.dir, err)
	}
	return nil
}

// Mask returns a backend's URL without the credentials in it, for messages.
func Mask(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if !found || scheme == "file" {
		return text
	}
	rest, _, _ = strings.Cut(rest, "?") // libpq takes passwords there, too
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = "****" + rest[at:]
	}
	return scheme + "://" + rest
}
