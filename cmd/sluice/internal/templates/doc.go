// Package templates makes projects from templates: folders with a Pulumi.yaml, whose texts ${PROJECT} and ${DESCRIPTION} are
// replaced, and whose section "template" describes the template and goes away.
//
// Some are built in; their files are in the folder builtin, each perhaps with the ending ".template", which keeps Go and git
// from taking it for their own. Others are folders of the user's.
//
// It asks nobody and knows no stacks.
//
// Invariant: what was written can be undone until the next thing is written, so that a project that cannot be completed leaves
// nothing behind.
package templates
