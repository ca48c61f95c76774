package newproject

import (
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/templates"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// Options say what is to be made.
type Options struct {
	Template          string // its name or folder; "" is to be chosen
	Name, Description string // of the project; "" is to be asked for, or a default
	Stack             string
	Directory         string
	SecretsProvider   string
	Settings          flags.Settings
	Force             bool // write over files that are there
	Yes               bool // ask nothing
	GenerateOnly      bool // make no stack and install nothing
}

// creation is one project that is being made.
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
