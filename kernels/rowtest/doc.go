// Package rowtest runs rows in tests: kernel and definition on the same operands, and the row's
// loop with random chunks on random workers, with all bits of the results compared. Rows of any
// package can be given.
package rowtest
