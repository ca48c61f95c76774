// Package java runs Java programs and components without a language plugin: Maven or Gradle builds them and tells how they are started, and an
// existing jar is started as it is.
//
// It separates the messages of the build tools from the output of the program. It controls no downloads of the build tools.
//
// Invariant: a program that cannot be started, or does not compile, leads to one error with the reason, without the build tool's own text
// around it.
package java
