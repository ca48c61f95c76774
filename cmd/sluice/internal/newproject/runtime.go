package newproject

import (
	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

// checkRuntime warns if nothing on the machine can run the program.
func checkRuntime(n *creation) error {
	project, err := session.FindProject()
	if err != nil {
		return err
	}
	home, err := workspace.Home(n.terminal.Lookup)
	if err != nil {
		return err
	}
	program, err := sluice.NewProgram(
		source.Project{Runtime: project.Runtime, Options: project.RuntimeOptions, Root: n.directory, Directory: n.directory, Entry: "."},
		sluice.PluginOptions{Home: home, LookupEnv: n.terminal.Lookup, ProjectPlugins: session.ProjectPlugins(project)})
	if err != nil {
		n.terminal.Warn("%v", err)
		return nil
	}
	return program.Close()
}
