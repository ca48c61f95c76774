// Package operation carries out one operation on one stack: everything that is around the pipeline. It goes through five
// phases, each of which has what it needs from the one before:
//
//	open     load the state, bring it up to date, and ask the program for its packages
//	resolve  load the policy packs, decide on imports, begin to record, and read what has to be known before the program starts
//	run      let the program and the pipeline work until both are done
//	end      delete what is no longer declared, apply the stack's outputs, and stop the program
//	close    end what is still running, close the record, and add up what was done
//
// An error of the first phase means that nothing was done; all later ones are reported as events and belong to the outcome.
//
// It makes no decisions about resources. Package stages does, and the caller assembles its pipeline.
//
// Invariant: when [Perform] returns, nothing that it has started is still running.
package operation
