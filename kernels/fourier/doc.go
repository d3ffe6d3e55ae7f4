// Package fourier has the rows fft and ifft: by the factors of the length, or as a convolution
// where a factor is large.
package fourier
