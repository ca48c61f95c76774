// Package nativetest helps to test the built-in providers: [Stack] keeps one resource as the engine would, and
// [RequireDeclared] compares a package with the TypeScript declarations of the public package. It is for tests only.
package nativetest
