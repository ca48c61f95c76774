package reports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// DefaultMarkdownLimit is how many bytes a report in Markdown has at most: the hosts of repositories take comments of 65,536 characters.
const DefaultMarkdownLimit = 65_000

// MinMarkdownLimit has room for the heading of a report and for what says that there is more.
const MinMarkdownLimit = 2_000

// Files are the files that a report is written to. The end of each name is its form.
type Files struct {
	Paths []string
	// Markdown is how many bytes a report in Markdown has at most.
	Markdown int
}

// form writes a document.
type form func(context.Context, io.Writer, *Document, Files) error

// forms write a document, by the ends of names.
var forms = map[string]form{
	".html": func(ctx context.Context, out io.Writer, d *Document, _ Files) error { return WriteHTML(ctx, out, d) },
	".md": func(_ context.Context, out io.Writer, d *Document, f Files) error {
		return WriteMarkdown(out, d, f.Markdown)
	},
	".json": func(_ context.Context, out io.Writer, d *Document, _ Files) error { return WriteJSON(out, d) },
}

func formOf(path string) string { return strings.ToLower(filepath.Ext(path)) }

// Check refuses files that are of no form or that cannot be written. It leaves them as they are.
func (f Files) Check() error {
	if f.Markdown < MinMarkdownLimit {
		return fmt.Errorf("a report in Markdown cannot be as short as %d bytes; allow %d or more", f.Markdown, MinMarkdownLimit)
	}
	for _, path := range f.Paths {
		if forms[formOf(path)] == nil {
			return fmt.Errorf("the report %q: its name must end in .html, .md or .json", path)
		}
		if err := checkWritable(path); err != nil {
			return fmt.Errorf("the report cannot be written: %w", err)
		}
	}
	return nil
}

// checkWritable reports why a file cannot be written, nil if it can.
func checkWritable(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0) // a folder cannot be opened so
	if err == nil {
		return file.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err = temporary(path)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		failed.Path = path // and not a name that nobody knows
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// temporary makes a file beside another one. A report has no secrets, and is for others.
func temporary(path string) (*os.File, error) {
	return os.OpenFile(path+"."+uuid.NewString()+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// Write writes the report to all files. A reader of a file sees the former report or the new one as a whole.
func (f Files) Write(ctx context.Context, d *Document) error {
	var errs []error
	for _, path := range f.Paths {
		if err := f.write(ctx, path, d); err != nil {
			errs = append(errs, fmt.Errorf("write the report: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (f Files) write(ctx context.Context, path string, d *Document) error {
	form := forms[formOf(path)]
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() { // a pipe
		return f.fill(ctx, path, form, d)
	}
	out, err := temporary(path)
	if err != nil { // the folder is not ours
		return f.fill(ctx, path, form, d)
	}
	if info != nil {
		_ = out.Chmod(info.Mode().Perm()) // as it was, where there are permissions
	}
	err = errors.Join(form(ctx, out, d, f), out.Close())
	if err == nil {
		err = os.Rename(out.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return nil
}

// fill writes a file in place.
func (f Files) fill(ctx context.Context, path string, form form, d *Document) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return errors.Join(form(ctx, out, d, f), out.Close())
}
