// Package inout has the rows that touch the world outside: read, emit, assert, pictures, and the
// values that a session keeps from one program to the next. Formats of files are in package format.
package inout
