package operate

import (
	"log/slog"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
)

// PluginOptions defines how plugins are found and started for a job. directory is the program's directory.
func PluginOptions(j *Job, directory string) host.PluginOptions {
	s := j.Stack
	options := host.PluginOptions{
		Directory: directory, Project: s.Project.Name, RuntimeOptions: map[string]string{}, Config: j.config,
		Home: s.Home, LookupEnv: j.Terminal.Lookup, Warn: func(message string) { j.Terminal.Warn("%s", message) },
		Log: slog.New(j.masks().Handler(j.Terminal.Log.Handler())), NoBuiltins: j.Flags.Program.NoBuiltins, Note: j.remarks.note,
		ProjectPlugins: session.ProjectPlugins(s.Project), ProjectPackages: session.ProjectPackages(s.Project), Installer: j.installer, InstallLate: j.Flags.Program.InstallLate,
		Debug: j.Flags.Program.Debug.Debug, LogFlags: j.Terminal.PluginFlags,
	}
	for name, v := range s.Project.RuntimeOptions {
		if !workspace.IsObject(v) {
			options.RuntimeOptions[name] = workspace.Text(v)
		}
	}
	return options
}
