package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// This file passes the terminal from the command that starts ranks to rank 0, which is in a process
// group of its own, and back, as a shell does with its jobs.

// adoptTerminal makes the terminal this process's, so that Ctrl-C comes here. which has the numbers
// of the standard files that become it.
func adoptTerminal(which string) error {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if unix.Getpgrp() != os.Getpid() { // others in the group would get Ctrl-C too
		if err := unix.Setpgid(0, 0); err != nil {
			return err
		}
	}
	// the shell waits for another process and would not notice
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTSTP)
	takeTerminal(tty)
	for _, number := range which {
		if err := unix.Dup3(int(tty.Fd()), int(number-'0'), 0); err != nil {
			return err
		}
	}
	return tty.Close()
}

// takeTerminal makes this process's group the foreground group of a terminal.
func takeTerminal(tty *os.File) {
	// or the request would stop this process
	signal.Ignore(syscall.SIGTTOU)
	// a closed terminal needs no reader
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSPGRP, unix.Getpgrp())
}
