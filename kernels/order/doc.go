// Package order sorts and selects: keys of numbers that are ordered as the numbers are, their sort
// on one worker and on several, and the search for one of them without a sort. Rows
// makes the operators of orders: sort, argsort, take, unique.
package order
