// Package operation carries out one operation on one stack: everything around the pipeline. It has five phases, each of which
// takes the result of the one before:
//
//	open     load the state, bring it up to date, and get the packages of the program
//	resolve  load the policy packs, plan imports, begin to record, and read resources before the program starts
//	run      run the program and the pipeline until both are done
//	end      delete resources that are no longer declared, apply the stack's outputs, and stop the program
//	close    end everything that still runs, close the record, and add up the results
//
// An error of the first phase means that nothing was done. Later errors are events and part of the outcome.
//
// It makes no decisions about resources: package stages does, and the caller assembles its pipeline.
//
// Invariant: when [Perform] returns, nothing that it has started is still running.
package operation
