package terminal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNobodyIsAskedInCI(t *testing.T) {
	for name, c := range map[string]struct {
		env         map[string]string
		interactive bool
	}{
		"at a terminal":               {nil, true},
		"in any CI system":            {map[string]string{"CI": "true"}, false},
		"in GitHub Actions":           {map[string]string{"GITHUB_ACTIONS": "true"}, false},
		"in CodeBuild":                {map[string]string{"CODEBUILD_BUILD_ARN": "arn:x"}, false},
		"the detection is turned off": {map[string]string{"CI": "true", "PULUMI_DISABLE_CI_DETECTION": "1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			term := &Terminal{Lookup: func(name string) (string, bool) { value, ok := c.env[name]; return value, ok }}
			term.InTerminal, term.OutTerminal = true, true
			require.Equal(t, c.interactive, term.Interactive())
			require.Equal(t, c.interactive, term.Live())
		})
	}
}
