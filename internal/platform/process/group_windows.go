package process

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Lead makes a command that is not started yet lead a group, without the guard of [Start]. Such a process does not receive the console's Ctrl-C.
func Lead(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.CreationFlags |= windows.CREATE_NEW_PROCESS_GROUP
}

// InterruptGroup does nothing: Windows cannot interrupt a group outside this console.
func InterruptGroup(*os.Process) {}

// KillGroup kills the leader.
func KillGroup(leader *os.Process) { _ = leader.Kill() }

// guard is a job whose processes end when its last handle is closed, which the system does when this process dies. The zero
// guard does nothing.
type guard struct{ job windows.Handle }

func guardGroup(leader *os.Process) guard {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return guard{}
	}
	if err = limit(job, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err == nil {
		err = assign(job, leader)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return guard{}
	}
	return guard{job: job}
}

func limit(job windows.Handle, flags uint32) error {
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: flags},
	}
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	return err
}

func assign(job windows.Handle, leader *os.Process) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(leader.Pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	return windows.AssignProcessToJobObject(job, process)
}

func (g guard) kill(leader *os.Process) {
	if g.job == 0 || windows.TerminateJobObject(g.job, 1) != nil {
		_ = leader.Kill()
	}
}

func (g guard) dismiss() {
	if g.job != 0 {
		_ = limit(g.job, 0) // remaining processes go on
		_ = windows.CloseHandle(g.job)
	}
}
