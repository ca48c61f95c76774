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

	"github.com/sluice-iac/sluice/internal/platform/files"
)

// DefaultMarkdownLimit is the maximal size of a report in Markdown in bytes: code hosts accept comments of 65,536 characters.
const DefaultMarkdownLimit = 65_000

// MinMarkdownLimit has room for the heading of a report and for the line about omitted parts.
const MinMarkdownLimit = 2_000

// Files are the files for a report. The extension of each name determines the form.
type Files struct {
	Paths []string
	// Markdown is the maximal size of a report in Markdown in bytes.
	Markdown int
}

// form writes a document.
type form func(context.Context, io.Writer, *Document, Files) error

// forms maps extensions to functions that write a document.
var forms = map[string]form{
	".html": func(ctx context.Context, out io.Writer, d *Document, _ Files) error { return WriteHTML(ctx, out, d) },
	".md": func(_ context.Context, out io.Writer, d *Document, f Files) error {
		return WriteMarkdown(out, d, f.Markdown)
	},
	".json": func(_ context.Context, out io.Writer, d *Document, _ Files) error { return WriteJSON(out, d) },
}

func formOf(path string) string { return strings.ToLower(filepath.Ext(path)) }

// Check refuses files without a form, and those that cannot be written. It does not change them.
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

// checkWritable returns the error of writing to a file, nil if there is none. It does not change the file.
func checkWritable(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0) // this fails for a folder
	if err == nil {
		return file.Close()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err = os.OpenFile(path+"."+uuid.NewString()+".tmp", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		failed.Path = path // instead of the temporary name
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// mode is that of new reports. Others may read them, as a report has no secrets.
const mode = 0o666

// Write writes the report to all files. A reader of a file gets the whole former report or the whole new one.
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
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // it is a pipe
		return f.fill(ctx, path, form, d)
	}
	err = files.Replace(path, mode, func(out *os.File) error { return form(ctx, out, d, f) })
	if errors.As(err, new(*files.UncreatedError)) { // the folder belongs to another user
		return f.fill(ctx, path, form, d)
	}
	return err
}

// fill writes a file in place.
func (f Files) fill(ctx context.Context, path string, form form, d *Document) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return errors.Join(form(ctx, out, d, f), out.Close())
}
