package cisystem

import (
	"slices"
	"strings"
)

// System is the name of a CI system, for people.
type System string

// The systems of which somebody knows more than the name.
const (
	// Own is any system that the user describes in PULUMI_CI_SYSTEM and other variables.
	Own       System = "as described"
	Azure     System = "Azure Pipelines"
	Bitbucket System = "Atlassian Bitbucket Pipelines"
	Buildkite System = "Buildkite"
	Circle    System = "CircleCI"
	Codefresh System = "Codefresh"
	GitHub    System = "GitHub Actions"
	GitLab    System = "GitLab CI/CD"
	Jenkins   System = "Jenkins"
	TeamCity  System = "TeamCity"
	Travis    System = "Travis CI"
)

// known lists the systems. A job has one of the variables of its system: "A B" are two that it must have both, "A=b" is one with that value.
func known() []row {
	return []row{
		{"Codeship", []string{"CI_NAME=codeship"}},
		{Own, []string{"PULUMI_CI_SYSTEM"}},
		{"AppVeyor", []string{"APPVEYOR"}},
		{"AWS CodeBuild", []string{"CODEBUILD_BUILD_ARN"}},
		{"Atlassian Bamboo", []string{"bamboo_planKey"}},
		{Bitbucket, []string{"BITBUCKET_COMMIT"}},
		{Azure, []string{"TF_BUILD"}},
		{Buildkite, []string{"BUILDKITE"}},
		{Circle, []string{"CIRCLECI"}},
		{Codefresh, []string{"CF_BUILD_URL"}},
		{"Drone", []string{"DRONE"}},
		{GitHub, []string{"GITHUB_ACTIONS"}},
		{GitLab, []string{"GITLAB_CI"}},
		{"GoCD", []string{"GO_PIPELINE_LABEL"}},
		{"Hudson", []string{"HUDSON_URL"}},
		{Jenkins, []string{"JENKINS_URL"}},
		{"Magnum CI", []string{"MAGNUM"}},
		{"Semaphore", []string{"SEMAPHORE"}},
		{"Spacelift", []string{"SPACELIFT_MAX_REQUESTS_BURST", "TF_VAR_spacelift_run_trigger", "TF_VAR_spacelift_commit_branch"}},
		{"TaskCluster", []string{"TASK_ID RUN_ID"}}, // one of these names may be anybody's
		{TeamCity, []string{"TEAMCITY_VERSION"}},
		{Travis, []string{"TRAVIS"}},
	}
}

type row struct {
	system    System
	variables []string
}

// anonymous returns the variables that jobs of many systems have.
func anonymous() []string { return []string{"CI", "BUILD_ID"} }

// Of returns the systems that the environment describes, the most certain one first: there may be several, such as the one that the user describes and
// the one that runs the job. There is none if PULUMI_DISABLE_CI_DETECTION is set.
func Of(env func(name string) string) []System {
	if isOff(env) {
		return nil
	}
	var found []System
	for _, r := range known() {
		if slices.ContainsFunc(r.variables, func(condition string) bool { return holds(condition, env) }) {
			found = append(found, r.system)
		}
	}
	return found
}

// Detected reports whether the process runs in CI: in a system that [Of] returns, or in another one.
func Detected(env func(name string) string) bool {
	return len(Of(env)) > 0 || !isOff(env) && slices.ContainsFunc(anonymous(), func(name string) bool { return isSet(env(name)) })
}

func isOff(env func(name string) string) bool { return isSet(env("PULUMI_DISABLE_CI_DETECTION")) }

func holds(condition string, env func(name string) string) bool {
	for variable := range strings.FieldsSeq(condition) {
		name, want, exact := strings.Cut(variable, "=")
		if value := env(name); !isSet(value) || exact && value != want {
			return false
		}
	}
	return true
}

// isSet reports whether a variable has a value that means something.
func isSet(value string) bool { return value != "" && !strings.EqualFold(value, "false") }
