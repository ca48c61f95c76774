package advise

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/urn"
)

// words returns the text that follows a message, by action. Most texts are lines of their own; the others continue the
// last sentence.
var words = map[advice.Action]func(advice.Advice) string{
	advice.Unprotect: func(a advice.Advice) string {
		return " To unprotect the resource, either remove the `protect` flag from the resource in your program and run `sluice up`, " +
			"or use the command:\n`sluice state unprotect " + quoted("", a.URNs) + "`"
	},
	advice.RemoveProtection: plain(" To unprotect the resource, remove the `protect` flag from the resource in your program and run `sluice up`"),
	advice.DeleteProtected:  plain("\nuse --force to delete them all the same, or `sluice state unprotect` before"),
	advice.DeleteDependents: plain("\ndelete these first, or take them along with --target-dependents"),

	advice.TargetDependents:  plain("\n--target-dependents makes what depends on the targets part of the operation"),
	advice.ExcludeDependents: plain("\n--exclude-dependents excludes both"),
	advice.TargetNeeded:      func(a advice.Advice) string { return "\nAdd what it needs: " + quoted("--target ", a.URNs) },
	advice.TargetDeleted:     func(a advice.Advice) string { return "\nto delete them too, add: " + quoted("--target ", a.URNs) },
	advice.ListResources:     plain("\n`sluice stack --show-urns` lists all resources"),
	advice.ListVersions:      plain("\n`sluice stack history` lists the versions"),
	advice.RenameResource:    plain("; rename one of the two with `sluice state rename`"),

	advice.Recover: plain(": `sluice recover` finds out what became of updates and deletes, looks for what creates have made, and asks where it finds nothing"),
	advice.ResolveCreate: func(a advice.Advice) string {
		return "\n    `sluice recover` finds out, or asks" +
			"\n    " + quoted("--import-pending-creates ", a.URNs) + " --import-pending-creates ID  records the object that was made" +
			"\n    --pending-creates=clear   forgets what was interrupted: nothing was made" +
			"\n    --pending-creates=create  makes another object, whatever was made"
	},
	advice.Adopt: func(a advice.Advice) string {
		return fmt.Sprintf("\n`sluice recover --adopt %s` records it. If nothing can be read of objects of its type, undo by hand what was made, "+
			"and then forget it with `sluice recover --assume-not-created`", assigned(a))
	},
	advice.CancelLock: plain("\n`sluice cancel` removes the lock"),
	advice.CancelDead: plain("\nIf that process has died, `sluice cancel` removes its lock, and the next command recovers what it has left"),
	advice.DiscardJournal: plain("\nCompare that with the stack (`sluice stack export`, `sluice refresh --preview-only`), and then put the journal aside with " +
		"`sluice recover --discard`"),
	advice.DiscardMove:   plain(discarded + "`sluice state delete` removes the resources that both stacks record from one of them, and deletes no object"),
	advice.DiscardRename: plain(discarded + "`sluice stack rm --force` removes the stack that should not be there, and deletes no object"),

	advice.Repeat:       plain("\ncorrect the cause, and run the same command again: what was done is recorded"),
	advice.GoOn:         plain("\nrun the same command again: what was done is recorded"),
	advice.PreviewAgain: plain("\ncorrect the cause, and run the same command again: nothing was changed"),

	advice.RepairState: plain("; `sluice state repair` tries to fix it"),
	advice.ImportState: plain("; compare the two, and use `sluice stack import` for what is right"),
	advice.RestoreState: func(a advice.Advice) string {
		return "\n`sluice stack import --stack " + format.ShellQuote(a.Stack) + " --file FILE` puts one of them in its place"
	},
	advice.ImportAnyway: plain("; rerun with --force to proceed anyway"),
	advice.MakeStack: func(a advice.Advice) string {
		return "\n`sluice stack ls` lists the stacks; `sluice stack init " + format.ShellQuote(a.Stack) + "` makes this one"
	},
	advice.ForgetResources: plain(", or use --force to forget them"),
	advice.UpgradeStore:    plain("; upgrade it with `sluice state upgrade`"),
	advice.LogIn:           plain("\n`sluice login file://~` (or another directory) selects one"),
	advice.LogInToService:  plain("\nset PULUMI_ACCESS_TOKEN, or give the token to `sluice login`"),
	advice.SendState:       plain("\n`sluice recover` sends it, and so does the next command on the stack"),
	advice.DiscardState: plain("\nCompare that file with the stack (`sluice stack export`, `sluice refresh --preview-only`), and then put it aside with " +
		"`sluice recover --discard`"),
	advice.SetConfig: func(a advice.Advice) string {
		return fmt.Sprintf("\nset it with `sluice config set %s <value>`", a.Key)
	},
	advice.SavePlan:       plain("; `sluice preview --save-plan FILE` writes one"),
	advice.RunProgram:     plain("\nYou must run with the `--run-program` flag to use delete hooks during destroy."),
	advice.DebugPlugins:   plain("; --attach-debugger=plugins attaches to plugins alone"),
	advice.RefuseBuiltins: plain(" (--no-builtin-providers uses plugins instead)"),

	advice.InstallProject: plain("\nrun `sluice install`"),
	advice.InstallPlugin: func(a advice.Advice) string {
		return "\ninstall it with `" + installing(a.Plugin, a.Plugin.Server, "") + "`"
	},
	advice.InstallFile: func(a advice.Advice) string {
		file := a.Plugin.Archive
		if file == "" {
			file, a.Plugin.Version = "FILE", "VERSION"
		}
		return "\nby hand: fetch the file in another way, and then run `" + installing(a.Plugin, "", file) + "`"
	},
}

// installing returns the command that installs a plugin.
func installing(p advice.Plugin, server, file string) string {
	command := []string{"sluice plugin install", p.Kind, p.Name}
	if p.Version != "" {
		command = append(command, p.Version)
	}
	if server != "" {
		command = append(command, "--server", format.ShellQuote(server))
	}
	if file != "" {
		command = append(command, "--file", format.ShellQuote(file))
	}
	return strings.Join(command, " ")
}

const discarded = "\nCompare the two stacks (`sluice stack --show-urns`). Put the record aside with `sluice recover --discard`; then "

// plain returns the same text for all advice of an action.
func plain(text string) func(advice.Advice) string {
	return func(advice.Advice) string { return text }
}

// quoted formats resources as arguments of a command, each after a flag.
func quoted(flag string, us []urn.URN) string {
	list := make([]string, len(us))
	for i, u := range us {
		list[i] = flag + u.ShellQuoted()
	}
	return strings.Join(list, " ")
}

// assigned formats the argument that gives a resource an ID.
func assigned(a advice.Advice) string {
	return urn.URN(string(a.URNs[0]) + "=" + a.ID).ShellQuoted()
}
