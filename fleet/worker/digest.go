package worker

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// left are folders that contain no program.
var left = []string{".git", "node_modules", "venv", ".venv", "__pycache__", ".sluice-fleet", ".pulumi"}

// programDigest returns the digest of the program in a folder: names and contents of its files, except those that a .gitignore excludes, in the
// folder or above it up to root, and except the settings of stacks.
func programDigest(directory, root, version string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, version)
	d := &digester{out: h, base: directory}
	if err := d.above(directory, root); err != nil {
		return "", err
	}
	if err := d.folder(nil); err != nil {
		return "", fmt.Errorf("read the program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

type digester struct {
	out      io.Writer
	base     string
	prefix   []string // of the folder, below the folder of the first .gitignore
	patterns []gitignore.Pattern
}

// above reads the .gitignore files above the folder.
func (d *digester) above(directory, root string) error {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(real, directory)
	if err != nil || rel != "." && !filepath.IsLocal(rel) {
		return nil // it is a checkout
	}
	if rel == "." {
		return nil
	}
	d.prefix = strings.Split(filepath.ToSlash(rel), "/")
	for i := range d.prefix {
		if err := d.ignore(filepath.Join(append([]string{real}, d.prefix[:i]...)...), d.prefix[:i]); err != nil {
			return err
		}
	}
	return nil
}

// ignore reads the .gitignore of a folder.
func (d *digester) ignore(folder string, domain []string) error {
	text, err := os.ReadFile(filepath.Join(folder, ".gitignore"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if line := lines.Text(); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			d.patterns = append(d.patterns, gitignore.ParsePattern(line, slices.Clone(domain)))
		}
	}
	return nil
}

// folder adds a folder, by its path below the base.
func (d *digester) folder(path []string) error {
	full := filepath.Join(append([]string{d.base}, path...)...)
	if err := d.ignore(full, slices.Concat(d.prefix, path)); err != nil {
		return err
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := d.entry(slices.Concat(path, []string{e.Name()}), e); err != nil {
			return err
		}
	}
	return nil
}

func (d *digester) entry(path []string, e fs.DirEntry) error {
	if gitignore.NewMatcher(d.patterns).Match(slices.Concat(d.prefix, path), e.IsDir()) {
		return nil
	}
	name := filepath.Join(append([]string{d.base}, path...)...)
	switch {
	case e.IsDir():
		if slices.Contains(left, e.Name()) {
			return nil
		}
		return d.folder(path)
	case len(path) == 1 && isSettings(e.Name()):
		return nil
	case e.Type()&fs.ModeSymlink != 0:
		to, err := os.Readlink(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(d.out, "link %q %q\n", path, to)
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return nil
		}
	case !e.Type().IsRegular():
		return nil
	}
	return d.file(path, name)
}

func (d *digester) file(path []string, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it is only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	fmt.Fprintf(d.out, "file %q %x\n", path, h.Sum(nil))
	return nil
}

// isSettings reports whether a file has the settings of a stack: Pulumi.<stack>.yaml.
func isSettings(name string) bool {
	rest, is := strings.CutPrefix(name, "Pulumi.")
	return is && strings.Contains(rest, ".")
}
