// Package explain says what became of a program: which operators fusion combined (groups.go), which
// loops its plan runs, with their schedules and machine code (loops.go), and which work no
// compiled loop does (interpreted.go). It reads graphs and writes text with places in the program.
package explain
