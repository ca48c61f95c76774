// Package templates makes projects and policy packs from templates. A template is a folder with a Pulumi.yaml or a PulumiPolicy.yaml. Its texts ${PROJECT} and
// ${DESCRIPTION} are replaced. The section "template" of its Pulumi.yaml describes the template and is removed.
//
// Some templates are built in; their files are in the folder builtin. Some of these files have the extension ".template", so that Go and git do not
// process them. Other templates are folders of the user.
//
// The package asks no questions and is independent of stacks.
//
// Invariant: every write can be undone until the next one, so that a project that cannot be completed leaves no files.
package templates
