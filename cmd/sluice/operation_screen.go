package main

import "fmt"

// setScreen makes s the screen that signals speak to; nil is none.
func (o *operation) setScreen(s *phaseScreen) {
	o.screenMu.Lock()
	defer o.screenMu.Unlock()
	o.screen = s
}

// note shows a line: on the screen of the phase that goes on, or on the error stream.
func (o *operation) note(text string) {
	o.screenMu.Lock()
	defer o.screenMu.Unlock()
	if o.screen != nil && o.screen.log != nil {
		o.screen.log.Note(text)
		return
	}
	fmt.Fprintln(o.cli.err, text)
}

// runningSteps names what has begun and not ended.
func (o *operation) runningSteps() []string {
	o.screenMu.Lock()
	defer o.screenMu.Unlock()
	if o.screen == nil || o.screen.log == nil {
		return nil
	}
	return o.screen.log.Running()
}
