// Package plugins is what the commands on plugins share: where plugins are, which ones a project needs, and how an
// installation is shown.
//
// Package install fetches and installs; package plugin finds.
package plugins
