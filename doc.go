// Package sluice is a deployment engine for infrastructure as code: the library that the command line is a client of.
package sluice
