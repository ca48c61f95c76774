// Command bench measures sluice: the engine as a library on a matrix of operations, shapes and sizes, and whole processes beside a floor, beside what
// is ideally possible, and beside the peers that are on PATH. README.md says what each figure means.
//
//	go run ./bench [-sizes 100,10000] [-shapes wide,chain] [-operations 'preview new'] [-latencies 0,20ms] [-only REGEXP] [-runs 5]
//	go run ./bench -compare old.json [-in new.json]
//
// It is not a test: it asserts no timing. A figure that misses its target is marked; with -compare, the exit status is 1 if a figure has become
// worse by more than chance explains.
//
// The command itself only reads flags. What is below it has floors, each of which knows those under it:
//
//	processes, inprocess   what is measured: cases, and who takes part in them
//	runner                 selects cases, runs their contenders by turns and keeps what they took
//	meter                  what a function or a process took
//	formats, plots         reports as tables, texts for other programs, pictures, and compared with older ones
//	results                figures, statistics, the machine
//
// Beside them are programs that run as processes of their own: program declares resources, floor is a monitor without an engine. Package
// shape says for all of them what a stack consists of.
//
// Invariant: what is compared runs by turns, so that whatever else the machine does falls on all of it.
package main
