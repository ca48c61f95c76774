// Package pending decides about interrupted operations: what is to be done about them, and what has become of them.
//
// Nothing is changed here: the engine does what is decided.
package pending
