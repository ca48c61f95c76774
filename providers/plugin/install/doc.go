// Package install fetches plugins and puts them into the cache of PULUMI_HOME, where package plugin finds them
// ([protocol.md 1.4], [protocol.md 1.11]). Sources are releases on GitHub and GitLab, URL templates, the public download host, a mirror that
// replaces them all, and local files.
//
// It starts no plugin, and does not decide when one is needed. A function of the caller installs the dependencies of a plugin
// in source form.
//
// Invariant: an installation that was cut off at any instant is never found, and every plugin that is found has the required
// or published checksum, and its dependencies.
//
// [protocol.md 1.11]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#111-installing
// [protocol.md 1.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#14-versions-in-the-cache
package install
