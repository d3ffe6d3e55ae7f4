// Package figure draws what is known of schedules: times with intervals as bars, chunk sizes over steps, workers over time, speedups.
// Each drawing is a Page of panels, written as SVG or PNG with the same content.
//
// Start reading at Page. The package refuses to know where the numbers come from: it takes plain ones, times in seconds.
package figure
