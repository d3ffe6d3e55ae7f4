package format

// This file chooses columns of a CSV. The fields of other columns may hold any text. Only their quotes
// are checked, which tell where a field ends.

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"flow/lang/source"
)

// choice tells which fields of a record are read.
type choice struct {
	place []int // for each field its column in the matrix, or -1; nil: all are read
	taken int   // number of columns of the matrix
}

// skips reports whether field k is not read.
func (c *choice) skips(k int) bool {
	return c != nil && c.place != nil && (k >= len(c.place) || c.place[k] < 0)
}

// mostHeads is the most names of columns that are kept for messages.
const mostHeads = 64

// choose finds the columns that o.Columns lists among the fields of the first record. named tells that
// it lists names, not numbers, so that the first record holds names. choose fails if a column is
// missing or listed twice, or if another one has the same name.
func (r *csvReader) choose(fields []string, o Options) (named bool, err error) {
	if r.taken = len(fields); o.Columns == "" {
		return false, nil
	}
	list := strings.Split(o.Columns, ",")
	r.place, r.taken = slices.Repeat([]int{-1}, len(fields)), len(list)
	for k, f := range fields {
		fields[k] = strings.TrimSpace(f)
	}
	for _, word := range list {
		_, err := strconv.Atoi(strings.TrimSpace(word))
		named = named || err != nil
	}
	if named && o.Header == No {
		return false, r.fail(0, "columns = %s are names, and head = false says that the file has none", quoted([]byte(o.Columns))).
			help("columns have numbers from 0 on: columns = \"0, 2\"")
	}
	for at, word := range list {
		word = strings.TrimSpace(word)
		k, _ := strconv.Atoi(word)
		switch same := slices.Index(fields, word); {
		case word == "" && same < 0:
			return false, r.fail(0, "columns = %s has a comma too many", quoted([]byte(o.Columns))).help("the columns are %s", listed(fields))
		case named && same < 0:
			e := r.fail(0, "there is no column %s", quoted([]byte(word)))
			if best, ok := source.Suggest(word, fields); ok {
				return false, e.help("did you mean `%s`?", best)
			}
			return false, e.help("the columns are %s", listed(fields))
		case named && slices.Contains(fields[same+1:], word):
			return false, r.fail(0, "several columns are called %s", quoted([]byte(word))).help("columns have numbers from 0 on: columns = \"0, 2\"")
		case named:
			k = same
		case k < 0:
			k += len(fields)
		}
		if k < 0 || k >= len(fields) {
			return false, r.fail(0, "there is no column %s: line %d has %d fields", word, r.first, len(fields)).help("columns have numbers from 0 on")
		}
		if r.place[k] >= 0 {
			return false, r.fail(0, "columns lists column %s twice", quoted([]byte(word))).help("X[:, [0, 0]] repeats a column")
		}
		r.place[k] = at
	}
	return named, nil
}

// listed joins names for a message. It leaves out all but the first 12.
func listed(names []string) string {
	const most = 12
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(", and %d more", n)
	}
	return string(printable([]byte(strings.Join(names, ", ")))) + more
}

// printable replaces control characters.
func printable(text []byte) []byte {
	return bytes.Map(func(c rune) rune {
		if isControl(c) || c == '\n' || c == '\t' {
			return ' '
		}
		return c
	}, text)
}

// chosen appends the numbers of the chosen fields of a record to x. It fails where a chosen field is
// not a number, where quotes are misplaced, and if the record has another number of fields than the
// first one.
func (r *csvReader) chosen(x []float64, line []byte, hasQuotes bool) ([]float64, error) {
	before := len(x)
	x, err := grow(r.in, r.no, x, r.taken)
	if err != nil {
		return x, err
	}
	x = x[:before+r.taken]
	var one []float64
	for at, k := 0, 0; ; k++ {
		at = skipBlank(line, at)
		end, ok := fieldEnd(line, at, r.sep)
		if !ok { // split reports misplaced quotes
			fields, err := r.split(line, true)
			if err != nil {
				return x, err
			}
			for k, f := range fields {
				if r.skips(k) {
					continue
				}
				if one, err = r.number(one[:0], []byte(strings.TrimSpace(f)), k, 0); err != nil {
					return x, err
				}
				x[before+r.place[k]] = one[0]
			}
			return x, r.width(len(fields))
		}
		if !r.skips(k) {
			if v, next, ok := scanFloat(line, at); ok && next == end {
				x[before+r.place[k]] = v
			} else {
				word := bytes.TrimRight(line[at:end], " \t")
				if n := len(word); hasQuotes && n > 1 && word[0] == '"' {
					word = bytes.TrimSpace(word[1 : n-1])
				}
				if one, err = r.number(one[:0], word, k, at+1); err != nil {
					return x, err
				}
				x[before+r.place[k]] = one[0]
			}
		}
		if end == len(line) {
			return x, r.width(k + 1)
		}
		at = end + 1
	}
}

// fieldEnd returns where the field that begins at place at ends. ok is false if its quotes are
// misplaced.
func fieldEnd(line []byte, at int, sep byte) (end int, ok bool) {
	if at < len(line) && line[at] == '"' {
		for at++; ; at += 2 {
			n := bytes.IndexByte(line[at:], '"')
			if n < 0 {
				return 0, false
			}
			if at += n; at+1 == len(line) || line[at+1] != '"' {
				break
			}
		}
		at++
		return at, at == len(line) || line[at] == sep
	}
	end = len(line)
	if n := bytes.IndexByte(line[at:], sep); n >= 0 {
		end = at + n
	}
	return end, bytes.IndexByte(line[at:end], '"') < 0
}

// otherColumns lists the columns that hold numbers in the record that is read, in the form of
// Options.Columns. It returns "" if there are none or more than eight.
func (r *csvReader) otherColumns() string {
	fields, err := r.split(r.text, r.quotes)
	if err != nil || len(fields) != r.cols {
		return ""
	}
	var at []int
	named := r.heads != nil
	for k, f := range fields {
		if _, number := floatWord([]byte(strings.TrimSpace(f))); number {
			at = append(at, k)
			named = named && r.callable(k)
		}
	}
	if len(at) == 0 || len(at) > 8 {
		return ""
	}
	words := make([]string, len(at))
	for i, k := range at {
		if words[i] = strconv.Itoa(k); named {
			words[i] = strings.TrimSpace(r.heads[k])
		}
	}
	return string(printable([]byte(strings.Join(words, ", "))))
}

// callable reports whether choose finds column k by its name.
func (r *csvReader) callable(k int) bool {
	name := strings.TrimSpace(r.heads[k])
	_, err := strconv.Atoi(name)
	same := func(h string) bool { return strings.TrimSpace(h) == name }
	first := slices.IndexFunc(r.heads, same)
	return err != nil && name != "" && !strings.Contains(name, ",") && first == k && !slices.ContainsFunc(r.heads[k+1:], same)
}

// onlyNames reports a record that names columns although the fields that are read could be missing
// numbers: one of all fields is a text, and none begins like a number.
func onlyNames(fields []string) bool {
	text := false
	for _, f := range fields {
		f = strings.TrimSpace(f)
		if f != "" && beginsLikeNumber(f) || strings.ContainsFunc(f, isControl) {
			return false
		}
		_, number := floatWord([]byte(f))
		text = text || f != "" && !number
	}
	return text
}
