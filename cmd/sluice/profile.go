package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
)

// profile is the profile of a running command.
type profile struct {
	stem string // of the names of the files
	cpu  *os.File
}

// startProfile begins to write a profile of the processor to PREFIX.PID.cpu.
func startProfile(prefix string) (*profile, error) {
	p := &profile{stem: fmt.Sprintf("%s.%d", prefix, os.Getpid())}
	var err error
	if p.cpu, err = os.Create(p.stem + ".cpu"); err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(p.cpu); err != nil {
		return nil, errors.Join(err, p.cpu.Close())
	}
	return p, nil
}

// end completes the profile, and writes one of the memory to PREFIX.PID.mem.
func (p *profile) end() error {
	pprof.StopCPUProfile()
	memory, err := os.Create(p.stem + ".mem")
	if err == nil {
		runtime.GC() // so that unused memory is not counted
		err = errors.Join(pprof.WriteHeapProfile(memory), memory.Close())
	}
	return errors.Join(err, p.cpu.Close())
}
