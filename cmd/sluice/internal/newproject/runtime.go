package newproject

import (
	"context"
	"maps"
	"slices"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// runtimeChoice is an option of a runtime that a project should have. The first answer is the default. An option with only one
// answer is not a question.
type runtimeChoice struct {
	option, question string
	answers          []string
	// with is the value of the previous choice for which this option applies; "" is any.
	with string
}

// runtimeChoices are the options to choose, by runtime, in the order of the questions.
var runtimeChoices = map[string][]runtimeChoice{
	"nodejs": {{option: "packagemanager", question: "The package manager to use for installing dependencies", answers: []string{"npm", "pnpm", "yarn", "bun"}}},
	"python": {
		{option: "toolchain", question: "The toolchain to use for installing dependencies and running the program", answers: []string{"pip", "poetry", "uv"}},
		{option: "virtualenv", answers: []string{"venv"}, with: "pip"},
	},
}

// chooseRuntimeOptions returns the options of the runtime that are added to those of the template: the given ones, and the
// user's answers for those that neither has.
func chooseRuntimeOptions(ctx context.Context, n *creation) (map[string]string, error) {
	options := maps.Clone(n.options.RuntimeOptions)
	if options == nil {
		options = map[string]string{}
	}
	last := ""
	for _, c := range runtimeChoices[n.template.Runtime] {
		if _, given := options[c.option]; given || slices.Contains(n.template.RuntimeOptions, c.option) || c.with != "" && c.with != last {
			last = options[c.option]
			continue
		}
		answer, err := c.ask(ctx, n)
		if err != nil {
			return nil, err
		}
		options[c.option], last = answer, answer
	}
	return options, nil
}

// ask requests an answer.
func (c runtimeChoice) ask(ctx context.Context, n *creation) (string, error) {
	if !n.asks || len(c.answers) == 1 {
		return c.answers[0], nil
	}
	at, err := terminal.Choose(ctx, n.terminal, c.question, c.answers, 0)
	if err != nil {
		return "", err
	}
	return c.answers[at], nil
}
