package newproject

import (
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// Options define the project to make.
type Options struct {
	Template          string // its name or folder; "" asks the user
	Name, Description string // of the project; "" asks the user or uses a default
	Stack             string
	Directory         string
	SecretsProvider   string
	Settings          flags.Settings
	RuntimeOptions    map[string]string // added to those of the template
	Force             bool              // overwrite existing files
	Yes               bool              // ask nothing
	GenerateOnly      bool              // make no stack and install nothing
}

// creation is a project that is being made.
type creation struct {
	open      *session.Opener
	terminal  *terminal.Terminal
	options   Options
	template  *templates.Template
	directory string // absolute
	project   templates.Project
	stack     string
	asks      bool
}
