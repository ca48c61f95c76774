package main

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
)

// profiles are the files for profiles of time and memory; "" is none.
type profiles struct{ cpu, memory, trace string }

// start begins to write profiles. stop ends them.
func (p profiles) start() (stop func() error, err error) {
	var ends []func() error
	stop = func() error {
		var errs []error
		for _, end := range ends {
			errs = append(errs, end())
		}
		return errors.Join(errs...)
	}
	begin := func(path string, begin func(f *os.File) error, end func(f *os.File) error) {
		if path == "" || err != nil {
			return
		}
		var f *os.File
		if f, err = os.Create(path); err != nil {
			return
		}
		if err = begin(f); err != nil {
			err = errors.Join(err, f.Close())
			return
		}
		ends = append(ends, func() error { return errors.Join(end(f), f.Close()) })
	}
	begin(p.cpu, func(f *os.File) error { return pprof.StartCPUProfile(f) }, func(*os.File) error {
		pprof.StopCPUProfile()
		return nil
	})
	begin(p.trace, func(f *os.File) error { return trace.Start(f) }, func(*os.File) error {
		trace.Stop()
		return nil
	})
	begin(p.memory, func(*os.File) error { return nil }, func(f *os.File) error {
		runtime.GC()
		return pprof.Lookup("allocs").WriteTo(f, 0)
	})
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}
