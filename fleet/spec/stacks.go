package spec

import (
	"cmp"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/schedule/v1"
	"go.temporal.io/server/service/worker/scheduler"

	"github.com/sluice-iac/sluice/internal/text/syntax"
)

// builder makes the stacks of a fleet from their entries.
type builder struct {
	*reader
	fleet  *Fleet
	groups map[string]GroupEntry
	limits map[string]LimitEntry
	needs  []need
}

// need is a name in a list of needs. It may refer to a stack, an entry or a group that comes later in the file.
type need struct {
	stacks []int // the stacks with this need
	name   string
	at     syntax.Range
}

func (b *builder) entry(key, value *syntax.Node) {
	fields := b.fields(value, "a stack", append([]string{"directory", "git", "ref", "group"}, groupFields...)...)
	s := Stack{
		Entry: key.Text, Directory: b.given(fields["directory"], "the folder of a project", folder),
		Git: b.given(fields["git"], "a repository", repository), Ref: b.checked(fields["ref"], "a revision", revision),
		Group: b.text(fields["group"], "the name of a group"),
	}
	own := b.group(fields, b.fleet.Limits)
	group, known := b.groups[s.Group]
	if s.Group != "" && !known {
		b.fail(fields["group"].Range, syntax.Nearest(s.Group, slices.Collect(maps.Keys(b.groups))), "there is no group %q", s.Group)
		group.Stack = refused // the intended group may have one
	}
	s.Queue, s.Stack = cmp.Or(own.Queue, group.Queue, DefaultQueue), cmp.Or(own.Stack, group.Stack)
	s.Limits, s.Approve = union(group.Limits, own.Limits), union(group.Approve, own.Approve)
	s.Environment = union(group.Environment, own.Environment)
	s.Parallel = b.share(s.Limits)
	s.Config = maps.Clone(group.Config)
	if s.Config == nil {
		s.Config = map[string]string{}
	}
	maps.Copy(s.Config, own.Config)
	b.complain(key, s, fields)
	before := len(b.fleet.Stacks)
	b.add(s, key, fields["directory"])
	var mine []int
	for i := before; i < len(b.fleet.Stacks); i++ {
		mine = append(mine, i)
	}
	for i, name := range own.Needs {
		b.needs = append(b.needs, need{mine, name, itemRange(fields["needs"], i)})
	}
	for _, name := range group.Needs {
		b.needs = append(b.needs, need{mine, name, key.Range})
	}
}

// share returns how many resources of a stack with these limits may change at once, 0 if no limit sets that.
func (b *builder) share(limits []string) int {
	least := 0
	for _, name := range limits {
		if l := b.limits[name]; l.Changes > 0 {
			each := max(1, l.Changes/l.Stacks)
			if least == 0 || each < least {
				least = each
			}
		}
	}
	return least
}

// complain reports contradictions in an entry.
func (b *builder) complain(key *syntax.Node, s Stack, fields map[string]*syntax.Node) {
	has := func(name string) bool { return fields[name] != nil }
	switch {
	case !has("directory") && !has("git"):
		b.fail(key.Range, "write directory: and the folder of the project, relative to fleet.yaml", "the stack %q has neither a folder nor a repository", key.Text)
	case has("ref") && !has("git"):
		b.fail(fields["ref"].Range, "write git: and the URL of the repository", "a ref needs a repository")
	case has("git") && !has("ref"):
		b.fail(fields["git"].Range, "write ref: and a tag or a commit, so that all workers see the same", "the repository has no ref")
	}
	if s.Stack == "" {
		b.fail(key.Range, "write stack: and its name, there or in its group", "the stack %q does not say which stack of the project it is", key.Text)
	}
}

// add adds a stack, or those of a pattern.
func (b *builder) add(s Stack, key, directory *syntax.Node) {
	if !strings.ContainsAny(s.Directory, "*?[") {
		s.Name = s.Entry
		b.append(s, key.Range)
		return
	}
	if s.Git != "" {
		b.fail(directory.Range, "write an entry for each folder", "a pattern cannot look into a repository")
		return
	}
	found, err := filepath.Glob(filepath.Join(b.root, filepath.FromSlash(s.Directory)))
	if err != nil {
		b.fail(directory.Range, "", "%q is not a pattern: %v", s.Directory, err)
		return
	}
	before := len(b.fleet.Stacks)
	for _, full := range found {
		if !HasProject(full) {
			continue
		}
		one := s
		rel, err := filepath.Rel(b.root, full)
		if err != nil {
			continue
		}
		one.Directory = filepath.ToSlash(rel)
		one.Name = s.Entry + "/" + path.Base(one.Directory)
		one.Config = maps.Clone(s.Config)
		if why := safeName(path.Base(one.Directory)); why != "" {
			b.fail(directory.Range, "", "the folder %q cannot be the name of a stack: %s", one.Directory, why)
			continue
		}
		if i := slices.IndexFunc(b.fleet.Stacks[before:], func(o Stack) bool { return o.Name == one.Name }); i >= 0 {
			b.fail(directory.Range, "write an entry for each", "the folders %q and %q have the same name", b.fleet.Stacks[before+i].Directory, one.Directory)
			continue
		}
		b.append(one, directory.Range)
	}
	if len(b.fleet.Stacks) == before {
		b.fail(cmp.Or(directory, key).Range, "each needs a Pulumi.yaml", "no folder with a project matches %q", s.Directory)
	}
}

// append adds a stack, unless it is the same as another one.
func (b *builder) append(s Stack, at syntax.Range) {
	known := s.Stack != "" && !slices.Contains([]string{s.Stack, s.Directory, s.Git}, refused)
	same := func(o Stack) bool {
		return o.Git == s.Git && o.Ref == s.Ref && path.Clean(o.Directory) == path.Clean(s.Directory) && o.Stack == s.Stack
	}
	if i := slices.IndexFunc(b.fleet.Stacks, same); i >= 0 && known {
		b.fail(at, "take one of them away", "%q is the same stack as %q: %s of %s", s.Name, b.fleet.Stacks[i].Name, s.Stack, s)
	}
	b.fleet.Stacks = append(b.fleet.Stacks, s)
}

// HasProject reports whether a folder has a project file.
func HasProject(directory string) bool { return ProjectFile(directory) != "" }

// ProjectFile returns the path of the project file of a folder, "" if there is none.
func ProjectFile(directory string) string {
	for _, file := range []string{"Pulumi.yaml", "Pulumi.yml", "Pulumi.json"} {
		if info, err := os.Stat(filepath.Join(directory, file)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(directory, file)
		}
	}
	return ""
}

// resolve replaces the names in needs by those of stacks.
func (b *builder) resolve() {
	for _, n := range b.needs {
		found, unknown := b.fleet.Select([]string{n.name})
		if len(unknown) > 0 {
			b.fail(n.at, syntax.Nearest(n.name, b.fleet.Names()), "there is no stack, entry or group %q", n.name)
			continue
		}
		for _, i := range n.stacks {
			s := &b.fleet.Stacks[i]
			for _, f := range found {
				// A stack that needs its own group or entry needs the other stacks in it.
				if f.Name == s.Name && n.name != f.Name {
					continue
				}
				s.Needs = append(s.Needs, f.Name)
			}
		}
	}
	for i := range b.fleet.Stacks {
		s := &b.fleet.Stacks[i]
		slices.Sort(s.Needs)
		s.Needs = slices.Compact(s.Needs)
	}
}

func (b *builder) schedule(key, value *syntax.Node) {
	fields := b.fields(value, "a schedule", "operation", "cron", "every", "select")
	s := Schedule{
		Name: key.Text, Operation: b.text(fields["operation"], "the operation"), Cron: b.text(fields["cron"], "a time"),
		Every: b.text(fields["every"], "a duration"), Select: b.list(fields["select"], "select"),
	}
	if !slices.Contains([]string{"drift", "preview", "refresh"}, s.Operation) {
		b.fail(at(fields["operation"], key), "write drift, preview or refresh", "the schedule %q has no operation that can be repeated", key.Text)
	}
	switch every, err := time.ParseDuration(s.Every); {
	case (s.Cron == "") == (s.Every == ""):
		b.fail(key.Range, `write cron: "0 3 * * *", or every: 24h`, "the schedule %q needs either a time or a period", key.Text)
	case s.Every != "" && (err != nil || every < time.Minute):
		b.fail(fields["every"].Range, "write 24h, or 30m", "%q is not a period of a minute or more", s.Every)
	case s.Cron != "":
		b.cron(fields["cron"], s.Cron)
	}
	if _, unknown := b.fleet.Select(s.Select); len(unknown) > 0 {
		b.fail(at(fields["select"], key), syntax.Nearest(unknown[0], b.fleet.Names()), "there is no stack, entry or group %q", unknown[0])
	}
	b.fleet.Schedules = append(b.fleet.Schedules, s)
}

// cron refuses texts that the server would refuse.
func (b *builder) cron(n *syntax.Node, text string) {
	const hint = `write minute, hour, day, month and weekday: "0 3 * * *"`
	if len(strings.Fields(text)) != 5 {
		b.fail(n.Range, hint, "%q does not have five fields", text)
		return
	}
	if _, err := scheduler.NewSpecBuilder(nil, nil).NewCompiledSpec(&schedule.ScheduleSpec{CronString: []string{text}}); err != nil {
		b.fail(n.Range, hint, "%q is not a time: %v", text, err)
	}
}

func at(n, otherwise *syntax.Node) syntax.Range { return cmp.Or(n, otherwise).Range }

func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
