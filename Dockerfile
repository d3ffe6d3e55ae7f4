# An image with flowrun, MPI and the examples:
#
#     docker build -t flow .
#     docker run --rm flow                               # factors a matrix on MPI ranks
#     docker run --rm -v "$PWD":/work -w /work flow flowrun first.flow
FROM golang:1.26-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends libopenmpi-dev pkg-config && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -tags mpi -o /flowrun ./cmd/flowrun

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends openmpi-bin && rm -rf /var/lib/apt/lists/* \
	&& useradd --create-home flow
COPY --from=build /flowrun /usr/local/bin/flowrun
COPY --from=build /src/examples /usr/local/share/flow/examples
USER flow
# More ranks than processors are fine, and idle ones yield.
ENV OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
CMD ["flowrun", "--distributed", "--backend=mpi", "/usr/local/share/flow/examples/cholesky.flow"]
