package packages

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/dependencies"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/tooling"
)

// installer adds packages to programs, and installs them.
type installer struct{ reader *Reader }

// add implements [Reader.Add].
func (i installer) add(ctx context.Context, p *Package, t Target) error {
	if err := i.enter(p, t); err != nil {
		return err
	}
	instructions, err := i.use(ctx, p, t)
	if errors.As(err, new(*tooling.NoGeneratorError)) {
		return withoutSDK(p, t, err)
	}
	if err != nil {
		return err
	}
	if t.Program.Runtime != "yaml" {
		if err := dependencies.Install(ctx, i.reader.Terminal, t.Program, i.reader.Options); err != nil {
			return err
		}
	}
	if instructions = strings.TrimSpace(instructions); instructions != "" {
		fmt.Fprintln(i.reader.Terminal.Out, instructions)
	}
	return nil
}

// use generates the SDK of a package and links it to the program.
func (i installer) use(ctx context.Context, p *Package, t Target) (instructions string, err error) {
	folder := t.sdk(p)
	if err := i.reader.Generator().Generate(ctx, p, SDKRequest{Language: t.Program.Runtime, Folder: folder, Local: true}); err != nil {
		return "", err
	}
	fmt.Fprintf(i.reader.Terminal.Err, "The SDK of %s is in %s\n", p.Title(), folder)
	return i.reader.Generator().Link(ctx, p, t.Program, folder)
}

// installFor installs the packages of a target. users are the files of the packages that need it, the first one first.
func (i installer) installFor(ctx context.Context, t Target, users []string) error {
	list, err := workspace.ReadPackages(t.File)
	if err != nil {
		return err
	}
	users = append(slices.Clip(users), t.File)
	for _, entry := range list {
		if err := i.prepare(ctx, entry, users); err != nil {
			return fmt.Errorf("the package %q of %s: %w", entry.Name, filepath.Base(t.File), err)
		}
		p, err := i.reader.Ask(ctx, entry)
		if err != nil {
			return fmt.Errorf("the package %q of %s: %w", entry.Name, filepath.Base(t.File), err)
		}
		_, err = i.use(ctx, p, t)
		if !errors.As(err, new(*tooling.NoGeneratorError)) {
			if err != nil {
				return err
			}
			continue
		}
		if _, missing := os.Stat(t.sdk(p)); missing != nil && p.Published(t.Program.Runtime) == "" {
			return withoutSDK(p, t, err)
		}
	}
	return nil
}

// prepare installs the dependencies of a plugin on the disk: its own packages, and those of its language. users are the files of the
// packages that need the plugin.
func (i installer) prepare(ctx context.Context, entry workspace.Package, users []string) error {
	if !filepath.IsAbs(entry.Source) {
		return nil
	}
	m, err := source.ReadManifest(entry.Source, plugin.PluginManifest)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil // it is an executable
	case err != nil:
		return err
	}
	t := Target{File: filepath.Join(entry.Source, plugin.PluginManifest), Program: m.Project(entry.Source)}
	if at := slices.Index(users, t.File); at >= 0 {
		return cycle(users, at)
	}
	if err := i.installFor(ctx, t, users); err != nil {
		return err
	}
	return dependencies.Install(ctx, i.reader.Terminal, t.Program, i.reader.Options)
}

// cycle returns the error of plugins that need each other: from index at on, each file needs the next, and the last one the first.
func cycle(users []string, at int) error {
	var folders []string
	for _, file := range append(users[at:], users[at]) {
		folder, err := filepath.Rel(filepath.Dir(users[0]), filepath.Dir(file))
		if err != nil {
			return err
		}
		folders = append(folders, folder)
	}
	return fmt.Errorf("installing `packages` from %s: cycle found: %s\nName under `packages` only what does not need the plugin itself",
		filepath.Base(users[0]), strings.Join(folders, " -> "))
}

// enter adds a package to the file of the target. It leaves out a package that consists of a schema alone.
func (i installer) enter(p *Package, t Target) error {
	if t.File == "" || p.Entry == nil {
		return nil
	}
	entry := *p.Entry
	if p.plugin != "" {
		relative, err := filepath.Rel(filepath.Dir(t.File), p.plugin)
		if err != nil {
			return err
		}
		if entry.Source = filepath.ToSlash(relative); !strings.HasPrefix(entry.Source, ".") {
			entry.Source = "./" + entry.Source
		}
	}
	if err := workspace.AddPackage(t.File, entry); err != nil {
		return err
	}
	fmt.Fprintf(i.reader.Terminal.Err, "Added the package %s to %s\n", p.Title(), filepath.Base(t.File))
	return nil
}

// withoutSDK returns the error of a package whose SDK cannot be generated. It explains what has been done and what can be done.
func withoutSDK(p *Package, t Target, why error) error {
	text := fmt.Sprintf("the SDK of %s was not generated: %v", p.Title(), why)
	if t.File != "" && p.Entry != nil {
		text += fmt.Sprintf("\nThe package is in %s: when the plugin is there, `sluice install` generates the SDK", filepath.Base(t.File))
	}
	if command := p.Published(t.Program.Runtime); command != "" {
		text += fmt.Sprintf("\nIf its authors have published one, `%s` installs it", command)
	}
	return errors.New(text)
}

// InstallHere installs the `packages` of the project or plugin in the working directory; see [Reader.Install].
func InstallHere(ctx context.Context, t *terminal.Terminal) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	file, err := workspace.PackageFile(here)
	if errors.Is(err, workspace.ErrNoProject) {
		return nil // it is a policy pack
	}
	if err != nil {
		return err
	}
	if list, err := workspace.ReadPackages(file); len(list) == 0 || err != nil {
		return err
	}
	target, err := FindTarget("")
	if err != nil {
		return err
	}
	r, err := NewReader(t)
	if err != nil {
		return err
	}
	return r.Install(ctx, target)
}
