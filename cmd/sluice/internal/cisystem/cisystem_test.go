package cisystem

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSystemsAreRecognisedByTheirVariables(t *testing.T) {
	for name, c := range map[string]struct {
		env      map[string]string
		want     []System
		detected bool
	}{
		"none":                       {nil, nil, false},
		"an unknown one":             {map[string]string{"CI": "true"}, nil, true},
		"of Google, perhaps":         {map[string]string{"BUILD_ID": "7"}, nil, true},
		"not one":                    {map[string]string{"CI": "false", "GITHUB_ACTIONS": "False"}, nil, false},
		"GitHub":                     {map[string]string{"CI": "true", "GITHUB_ACTIONS": "true"}, []System{GitHub}, true},
		"Bamboo":                     {map[string]string{"bamboo_planKey": "A-B"}, []System{"Atlassian Bamboo"}, true},
		"CodeBuild":                  {map[string]string{"CODEBUILD_BUILD_ARN": "arn:x"}, []System{"AWS CodeBuild"}, true},
		"GoCD":                       {map[string]string{"GO_PIPELINE_LABEL": "1"}, []System{"GoCD"}, true},
		"Codefresh":                  {map[string]string{"CF_BUILD_URL": "https://x"}, []System{Codefresh}, true},
		"Codeship":                   {map[string]string{"CI_NAME": "codeship"}, []System{"Codeship"}, true},
		"another name":               {map[string]string{"CI_NAME": "mine"}, nil, false},
		"one variable of two":        {map[string]string{"RUN_ID": "1"}, nil, false},
		"two variables":              {map[string]string{"RUN_ID": "0", "TASK_ID": "x"}, []System{"TaskCluster"}, true},
		"described, and by another":  {map[string]string{"PULUMI_CI_SYSTEM": "ours", "GITLAB_CI": "true"}, []System{Own, GitLab}, true},
		"turned off":                 {map[string]string{"CI": "true", "GITHUB_ACTIONS": "true", "PULUMI_DISABLE_CI_DETECTION": "1"}, nil, false},
		"explicitly not turned off":  {map[string]string{"GITHUB_ACTIONS": "true", "PULUMI_DISABLE_CI_DETECTION": "false"}, []System{GitHub}, true},
		"a version, and no true one": {map[string]string{"TEAMCITY_VERSION": "2026.1"}, []System{TeamCity}, true},
	} {
		t.Run(name, func(t *testing.T) {
			env := func(name string) string { return c.env[name] }
			require.Equal(t, c.want, Of(env))
			require.Equal(t, c.detected, Detected(env))
		})
	}
}
