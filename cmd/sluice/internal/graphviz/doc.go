// Package graphviz lays out graphs: it runs Graphviz, compiled to WebAssembly, inside the process.
//
// It neither makes nor draws graphs: it takes a text in the language of Graphviz and returns the output of one of
// Graphviz's own writers.
//
// Invariant: nothing runs, and nothing is compiled, before a graph is to be laid out, and Graphviz has no access to
// files, the network, the clock or the environment. So the same text gives the same bytes everywhere.
//
// The file graphviz.wasm is Graphviz 12.1.2 as built and published by github.com/goccy/go-graphviz v0.2.10 (its
// directory internal/wasm has the build file). That module is not used, because it compiles the code whenever a
// process starts, and caches machine code in a temporary directory that another user may create first: decision 0102.
package graphviz
