// Command bench measures sluice. It measures the engine as a library, on a matrix of operations, shapes and sizes. It also measures whole processes,
// and compares them with a floor, with the ideal time, and with other tools on PATH. README.md explains each figure.
//
//	go run ./bench [-sizes 100,10000] [-shapes wide,chain] [-operations 'preview new'] [-latencies 0,20ms] [-only REGEXP] [-runs 5]
//	go run ./bench -compare old.json [-in new.json]
//
// It is not a test: it asserts no timing. A figure that misses its target is marked. With -compare, the exit status is 1 if a figure of sluice has
// become significantly worse; times are compared by their ratios to the baseline of the same report.
//
// The command itself only reads flags. The packages below it form layers; each uses only those under it:
//
//	processes, inprocess   the cases and their contenders
//	runner                 selects cases, runs their contenders alternately and keeps the results
//	meter                  measures a function or a process
//	profiles               collects the profiles of a contender
//	formats, plots         reports as tables, as data for other programs and as pictures; comparisons with older reports
//	results                figures, ratios, distributions, moments, statistics, the machine
//
// Other packages are programs that run as separate processes: program declares resources, floor is a monitor without an engine. Package shape defines
// the contents of a stack for all of them.
//
// Invariant: contenders run alternately, so that other load on the machine affects all of them.
package main
