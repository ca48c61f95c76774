package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

func projectNameError(name string) error {
	return fmt.Errorf("%q is not a project name; use up to 100 letters, digits, underscores, periods and hyphens", name)
}

// chooseTemplate finds the template, or lets somebody choose one.
func (n *creation) chooseTemplate(name string) (*templates.Template, error) {
	if name == "" && !n.asks {
		return nil, fmt.Errorf("name a template: %s, or a folder", strings.Join(templates.Names(), ", "))
	}
	if name != "" {
		return templates.Find(name)
	}
	for i, known := range templates.Names() {
		t, err := templates.Find(known)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(n.Out, "%3d  %-10s  %s\n", i+1, t.Name, t.Description)
	}
	for {
		answer, err := n.Ask("Please choose a template by number or name: ")
		if err != nil {
			return nil, err
		}
		if i, err := strconv.Atoi(answer); err == nil && i >= 1 && i <= len(templates.Names()) {
			answer = templates.Names()[i-1]
		}
		t, err := templates.Find(answer)
		if err == nil {
			return t, nil
		}
		fmt.Fprintln(n.Err, err)
	}
}

// askAll completes the name, the description and the stack.
func (n *creation) askAll(ctx context.Context) error {
	f := n.flags
	n.stack = cmp.Or(f.stack, "dev")
	name := f.name
	if parts := strings.Split(f.stack, "/"); name == "" && len(parts) == 3 {
		name = parts[1] // organization/project/stack
	}
	n.project = templates.Project{
		Name:        cmp.Or(name, projectNameFrom(filepath.Base(n.directory))),
		Description: cmp.Or(f.description, n.template.ProjectDescription),
	}
	for otherwise := n.project.Name; ; {
		if name == "" && n.asks {
			var err error
			if n.project.Name, err = n.askDefault("The name of the project", otherwise); err != nil {
				return err
			}
		}
		problem := n.checkName(ctx)
		if problem == nil {
			break
		}
		if name != "" || !n.asks {
			return problem
		}
		fmt.Fprintln(n.Err, problem)
	}
	if !n.asks {
		return nil
	}
	var err error
	if f.description == "" {
		if n.project.Description, err = n.askDefault("The description of the project", n.project.Description); err != nil {
			return err
		}
	}
	if f.stack == "" && !f.generateOnly {
		n.stack, err = n.askDefault("The name of the stack", n.stack)
	}
	return err
}

// checkName refuses a name that another project with stacks has: the two would share them.
func (n *creation) checkName(ctx context.Context) error {
	name := n.project.Name
	if !workspace.IsProjectName(name) {
		return exit.Usagef("%w", projectNameError(name))
	}
	if n.flags.generateOnly || n.flags.force {
		return nil
	}
	home, err := sluice.Home(n.Lookup)
	if err != nil {
		return err
	}
	url, err := sluice.BackendURL(home, "", n.Lookup)
	if err != nil {
		return err
	}
	b, err := sluice.OpenBackend(ctx, sluice.BackendOptions{URL: url, Project: name, LookupEnv: n.Lookup, Stores: cloud.Stores()})
	if err != nil {
		return err
	}
	stacks, err := b.Stacks(ctx, name)
	if err = errors.Join(err, b.Close()); err != nil {
		return err
	}
	for _, l := range stacks {
		if l.Ref.Project != name {
			continue // of a backend without projects
		}
		if n.flags.stack != "" && (n.flags.stack == l.Ref.Name || n.flags.stack == l.Ref.String()) {
			return nil // somebody wants that stack
		}
		return exit.Usagef("there are stacks of a project named %q already, such as %q, and this project would share them; "+
			"choose another name with --name, or use that stack with --stack %[2]s", name, l.Ref.Name)
	}
	return nil
}

func (n *creation) askDefault(question, otherwise string) (string, error) {
	answer, err := n.Ask(fmt.Sprintf("%s (%s): ", question, otherwise))
	return cmp.Or(answer, otherwise), err
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// projectNameFrom makes a project name of the name of a directory.
func projectNameFrom(directory string) string {
	name := strings.Trim(notInNames.ReplaceAllString(directory, "-"), "-.")
	return cmp.Or(name[:min(len(name), 100)], "project")
}

// saveSettings saves --config and what the template asks for.
func (n *creation) saveSettings(ctx context.Context, s *session) error {
	if err := n.flags.settings.Apply(s.file, s.project.Name); err != nil {
		return err
	}
	for _, setting := range n.template.Settings {
		key, err := workspace.ParseSettingKey(setting.Key, s.project.Name, false)
		if err != nil {
			return err
		}
		if _, set := s.file.Values()[key]; set {
			continue
		}
		value, err := n.askSetting(setting)
		if err != nil {
			return err
		}
		if value == "" {
			how := setting.Key
			if setting.Secret {
				how = "--secret " + how
			}
			n.Warn("the setting %s has no value yet: `sluice config set %s VALUE`", setting.Key, how)
			continue
		}
		set := configSetFlags{secret: setting.Secret, plaintext: !setting.Secret}
		stored, err := n.configValue(ctx, s, &set, key, value)
		if err != nil {
			return err
		}
		if err := s.file.Set(key, stored, false); err != nil {
			return err
		}
	}
	return s.file.Save()
}

func (n *creation) askSetting(s templates.Setting) (string, error) {
	if !n.asks {
		return s.Default, nil
	}
	question := s.Key
	if s.Description != "" {
		question = s.Description + " (" + s.Key + ")"
	}
	switch {
	case s.Secret && !s.HasDefault:
		return n.AskHidden(question + ": ")
	case s.HasDefault:
		return n.askDefault(question, s.Default)
	}
	return n.Ask(question + ": ")
}
