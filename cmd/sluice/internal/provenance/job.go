package provenance

import (
	"cmp"
	"encoding/json"
	"os"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/cisystem"
)

// job is a job of a CI service. Unknown values are "".
type job struct {
	system, build, number, kind, url string
	commit, branch, message          string
	pulls                            string // the number of the pull request
}

func (j job) described() map[string]string {
	out := map[string]string{}
	if j.system == "" {
		return out
	}
	for name, text := range map[string]string{
		ciSystem: j.system, ciBuild: j.build, ciNumber: j.number, ciType: j.kind, ciURL: j.url, ciHead: j.commit, ciPulls: j.pulls,
	} {
		if text != "" {
			out[name] = text
		}
	}
	return out
}

// jobOf returns the job of the process.
func jobOf(env func(string) string) job {
	found := cisystem.Of(env)
	if len(found) == 0 {
		return job{}
	}
	var j job
	switch found[0] {
	case cisystem.Own:
		return generic(env)
	case cisystem.Bitbucket:
		j = bitbucket(env)
	case cisystem.Azure:
		j = azurePipelines(env)
	case cisystem.Buildkite:
		j = buildkite(env)
	case cisystem.Circle:
		j = circle(env)
	case cisystem.Codefresh:
		j = codefresh(env)
	case cisystem.GitHub:
		j = gitHub(env)
	case cisystem.GitLab:
		j = gitLab(env)
	case cisystem.Jenkins:
		j = jenkins(env)
	case cisystem.Travis:
		j = travis(env)
	}
	j.system = string(found[0])
	return j
}

// generic returns a job of a service that the user describes by variables.
func generic(env func(string) string) job {
	return job{
		system: env("PULUMI_CI_SYSTEM"), build: env("PULUMI_CI_BUILD_ID"), number: env("PULUMI_CI_BUILD_NUMBER"), kind: env("PULUMI_CI_BUILD_TYPE"),
		url: env("PULUMI_CI_BUILD_URL"), commit: env("PULUMI_CI_PULL_REQUEST_SHA"), branch: env("PULUMI_CI_BRANCH_NAME"),
		message: env("PULUMI_COMMIT_MESSAGE"), pulls: env("PULUMI_PR_NUMBER"),
	}
}

func gitHub(env func(string) string) job {
	j := job{
		build: env("GITHUB_RUN_ID"), number: env("GITHUB_RUN_NUMBER"), kind: env("GITHUB_EVENT_NAME"), commit: env("GITHUB_SHA"), branch: env("GITHUB_REF"),
	}
	if repository := env("GITHUB_REPOSITORY"); repository != "" && j.build != "" {
		j.url = cmp.Or(env("GITHUB_SERVER_URL"), "https://github.com") + "/" + repository + "/actions/runs/" + j.build
	}
	if j.kind != "pull_request" {
		return j
	}
	var event struct {
		Number int64 `json:"number"`
		Pull   struct {
			Head struct {
				SHA string `json:"sha"`
				Ref string `json:"ref"`
			} `json:"head"`
		} `json:"pull_request"`
	}
	if text, err := os.ReadFile(env("GITHUB_EVENT_PATH")); err == nil && json.Unmarshal(text, &event) == nil {
		j.pulls, j.commit, j.branch = strconv.FormatInt(event.Number, 10), event.Pull.Head.SHA, event.Pull.Head.Ref
	}
	return j
}

func gitLab(env func(string) string) job {
	return job{
		build: env("CI_PIPELINE_ID"), number: env("CI_PIPELINE_IID"), kind: env("CI_PIPELINE_SOURCE"), url: env("CI_JOB_URL"), commit: env("CI_COMMIT_SHA"),
		branch: env("CI_COMMIT_REF_NAME"), message: env("CI_COMMIT_MESSAGE"), pulls: env("CI_MERGE_REQUEST_IID"),
	}
}

func buildkite(env func(string) string) job {
	j := job{
		build: env("BUILDKITE_BUILD_ID"), number: env("BUILDKITE_BUILD_NUMBER"), kind: "PullRequest", url: env("BUILDKITE_BUILD_URL"),
		commit: env("BUILDKITE_COMMIT"), branch: env("BUILDKITE_BRANCH"), message: env("BUILDKITE_MESSAGE"), pulls: env("BUILDKITE_PULL_REQUEST"),
	}
	if j.pulls == "false" {
		j.pulls, j.kind = "", env("BUILDKITE_SOURCE")
	}
	return j
}

func circle(env func(string) string) job {
	return job{build: env("CIRCLE_BUILD_NUM"), url: env("CIRCLE_BUILD_URL"), commit: env("CIRCLE_SHA1"), branch: env("CIRCLE_BRANCH")}
}

func jenkins(env func(string) string) job {
	return job{build: cmp.Or(env("BUILD_NUMBER"), env("BUILD_ID")), url: env("BUILD_URL"), commit: env("GIT_COMMIT"), branch: env("GIT_BRANCH")}
}

func bitbucket(env func(string) string) job {
	j := job{build: env("BITBUCKET_BUILD_NUMBER"), commit: env("BITBUCKET_COMMIT"), branch: env("BITBUCKET_BRANCH"), pulls: env("BITBUCKET_PR_ID")}
	if origin := env("BITBUCKET_GIT_HTTP_ORIGIN"); origin != "" {
		j.url = origin + "/addon/pipelines/home#!/results/" + j.build
	}
	return j
}

func azurePipelines(env func(string) string) job {
	j := job{
		build: env("BUILD_BUILDID"), kind: env("BUILD_REASON"), commit: env("BUILD_SOURCEVERSION"), message: env("BUILD_SOURCEVERSIONMESSAGE"),
		branch: env("BUILD_SOURCEBRANCHNAME"), pulls: env("SYSTEM_PULLREQUEST_PULLREQUESTID"),
	}
	j.url = strings.TrimSuffix(env("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI"), "/") + "/" + env("SYSTEM_TEAMPROJECT") + "/_build/results?buildId=" + j.build
	if env("BUILD_REPOSITORY_PROVIDER") == "GitHub" {
		j.pulls = env("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER")
		j.commit = cmp.Or(env("SYSTEM_PULLREQUEST_SOURCECOMMITID"), j.commit)
	}
	if j.pulls != "" {
		j.branch = env("SYSTEM_PULLREQUEST_SOURCEBRANCH")
	}
	return j
}

func codefresh(env func(string) string) job {
	j := job{
		build: env("CF_BUILD_ID"), kind: "Push", url: env("CF_BUILD_URL"), commit: env("CF_REVISION"), branch: env("CF_BRANCH"),
		message: env("CF_COMMIT_MESSAGE"), pulls: env("CF_PULL_REQUEST_NUMBER"),
	}
	if j.pulls != "" {
		j.kind = "PullRequest"
	}
	return j
}

func travis(env func(string) string) job {
	j := job{
		build: env("TRAVIS_JOB_ID"), number: env("TRAVIS_JOB_NUMBER"), kind: env("TRAVIS_EVENT_TYPE"), url: env("TRAVIS_BUILD_WEB_URL"),
		commit: env("TRAVIS_PULL_REQUEST_SHA"), branch: env("TRAVIS_BRANCH"), message: env("TRAVIS_COMMIT_MESSAGE"), pulls: env("TRAVIS_PULL_REQUEST"),
	}
	if j.pulls == "false" {
		j.pulls = ""
	}
	return j
}
