// Package figure draws. A Picture is what a program draws: lines, points, bars, histograms and
// matrices on axes, several in one, as SVG, PNG, HTML and as characters of a terminal. Beside it
// stand the figures of scheduling: the chunks of a loop over its steps, times with intervals as
// bars, what each worker did when, and speedup. The package takes plain numbers and knows neither
// the language nor schedulers. The same data give the same bytes.
//
// Start reading at Picture; Page is what both kinds of figures are laid out on.
package figure
