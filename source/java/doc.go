// Package java runs Java programs and components without a language plugin: Maven or Gradle builds and starts them, and a jar that
// is built already is started as it is.
//
// It keeps what the build tools say of themselves apart from what the program prints. What a build tool downloads is its own
// business.
//
// Invariant: a program that cannot be started, or does not compile, leads to one error that says what is wrong, without the build
// tool's own text around it.
package java
