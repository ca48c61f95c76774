// Package graphviz lays graphs out: it runs Graphviz, compiled to WebAssembly, inside the process.
//
// It is not for making graphs or for drawing them: it takes a text in the language of Graphviz and returns what one of
// Graphviz's own writers makes of the laid out graph.
//
// The one invariant: nothing of it runs, and nothing is compiled, before a graph is to be laid out, and it has no
// access to files, the network, the clock or the environment. So the same text gives the same bytes everywhere.
//
// The file graphviz.wasm is Graphviz 12.1.2 as github.com/goccy/go-graphviz v0.2.10 builds and publishes it (its
// directory internal/wasm has the build file). That module itself compiles it whenever a process starts, and keeps
// machine code in a directory for temporary files that anybody may make first: decision 0102.
package graphviz
