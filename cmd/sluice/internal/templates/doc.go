// Package templates makes projects, policy packs and packages from templates. A template is a folder with a Pulumi.yaml, a PulumiPolicy.yaml or a PulumiPlugin.yaml. Its texts ${PROJECT} and
// ${DESCRIPTION} are replaced. The section "template" of its Pulumi.yaml describes the template and is removed.
//
// Some templates are built in; their files are in the folders builtin, policies and packages. Some of these files have the extension ".template", so that Go and git do not
// process them. Other templates are folders of the user.
//
// The package asks no questions and is independent of stacks.
//
// Invariant: every write can be undone until the next one, so that a project that cannot be completed leaves no files.
package templates
