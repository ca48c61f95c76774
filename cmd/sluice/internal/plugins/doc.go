// Package plugins has the common parts of the commands on plugins: the places of plugins, the plugins that a project
// needs, and the progress of an installation.
//
// Package install fetches and installs; package plugin finds.
package plugins
