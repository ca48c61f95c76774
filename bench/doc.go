// Command bench measures the engine: previews of many resources in several shapes, in process and over gRPC, against a
// floor, against what is ideally possible, and against pulumi where that is on the PATH. README.md says what each figure
// means.
//
//	go run ./bench [-sizes 3000] [-shapes wide,chain,hub] [-runs 5] [-only REGEXP] [-out FILE] [-cpuprofile FILE]
//
// It is not a test: it asserts no timing. A figure that misses its target is marked in the table.
//
// Invariant: what is compared runs alternately, so that whatever else the machine does falls on both sides.
package main
