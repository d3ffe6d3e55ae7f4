# make demo    build flowrun with MPI, run the tiled Cholesky on ranks
# make test    every check, every test; what .ci/run runs
# make build   bin/flowrun, with MPI where there is one
# make install flowrun, its man page and shell completions below PREFIX (default /usr/local)
# make bench   side by side with other systems (long; see bench/)
# make soak    fuzzing, killed ranks, repeated runs (SOAK_SECONDS, default 300)
# make lint    formatting, vet, staticcheck, generated files
# make cover   the share of the statements that the tests reach, without MPI and the race detector
# make fmt     format Go and .flow files in place
#
# demo and test install the Debian packages they need, as root or through sudo.

SHELL := /bin/bash
GO    ?= go
NICE  ?=

# Root may run MPI in a container; harmless elsewhere. Ranks on few cores must not spin.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
export OMPI_MCA_mpi_yield_when_idle := 1

# These are asked when a recipe runs, not when make starts: setup may have installed the answer.
HAVE_MPI = pkg-config --exists ompi-c 2>/dev/null && command -v cc >/dev/null
TAGS     = $$($(HAVE_MPI) && echo mpi)

# The packages that have files for MPI alone.
MPI_CODE = $$(git grep -l '^//go:build.*mpi' -- '*.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')

# Packages without the paths of this folder are compiled once for all copies of the tree;
# .ci/generated makes a copy.
export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS 2>/dev/null) -trimpath)

# Packages whose code runs in several goroutines, and tests that run whole programs in one process,
# with every technique and in sessions.
RACE   := ./runtime/local/... ./runtime/dist/... ./runtime/schedule ./runtime/trace ./cmd/flowrun/...
RACING := 'ChangeNoByte|TestSession[^I]'
# Tests of ./runtime/schedule that simulate whole runs in one goroutine.
ALONE  := 'TestLearningPaysForItself|TestCost$$|TestCostNoisyProfile|TestCostFollows|TestAutoIsNearTheOracle|TestAutoOverRuns'

SOAK_SECONDS ?= 300
PREFIX ?= /usr/local

# When a test is taken for one that hangs: a machine ten times slower than the slowest that was tried ends before.
# lint vets what is tested.
TEST := test -vet=off -timeout 40m

.PHONY: demo test build install bench soak lint cover fmt setup generated unit race mpi nocgo

demo: setup build
	bin/flowrun --distributed --backend=mpi examples/cholesky.flow

build:
	$(GO) build -tags "$(TAGS)" -o bin/flowrun ./cmd/flowrun

install: build
	install -D bin/flowrun $(DESTDIR)$(PREFIX)/bin/flowrun
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	bin/flowrun man > $(DESTDIR)$(PREFIX)/share/man/man1/flowrun.1
	bin/flowrun completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/flowrun
	bin/flowrun completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_flowrun
	bin/flowrun completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/flowrun.fish

setup:
	@.ci/setup

# Tests of ranks and of sessions wait most of their time, and parts of lint run on one processor, so three kinds of
# checks run beside each other, the longest from the beginning to the end.
test: setup build
	@$(MAKE) --no-print-directory -j3 unit race mpi lint nocgo

# The command alone must not need any C, nor more than 45 MB.
nocgo:
	CGO_ENABLED=0 $(GO) build -o bin/flowrun-nocgo ./cmd/flowrun
	@test $$(stat -c %s bin/flowrun-nocgo) -le 45000000 || { echo "flowrun is larger than 45 MB"; exit 1; }

# Tests and staticcheck allocate much and keep little, so a collector that runs less often saves time.
build lint unit race mpi nocgo: export GOGC ?= 400
# Nothing reads what the runtime samples of allocations, and each sample walks a stack.
lint unit race mpi: export GODEBUG ?= memprofilerate=0

# The packages that take longest come first, so that none of them is left alone at the end.
unit: build
	$(GO) $(TEST) ./compiler ./kernels . ./cmd/flowrun ./runtime/dist ./...

race:
	@if command -v cc >/dev/null; then $(GO) $(TEST) -race -short -skip $(ALONE) $(RACE) && $(GO) $(TEST) -race -short -run $(RACING) .; \
	else echo "make: no C compiler, so the race detector is left out"; fi

# The conformance suite and the golden programs over real ranks, more ranks than cores among them.
mpi: export FLOW_COMMAND = $(CURDIR)/bin/flowrun
mpi: build
	@if $(HAVE_MPI); then $(GO) $(TEST) -tags mpi ./runtime/dist/transport/mpi && $(GO) $(TEST) -tags mpi -run MPI . ./cmd/flowrun ./runtime/dist; \
	else echo "make: no MPI development files, so the tests on MPI ranks are left out"; fi

lint: generated build
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "gofmt: run make fmt for"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	@if $(HAVE_MPI); then echo "$(GO) vet -tags mpi"; $(GO) vet -tags mpi $(MPI_CODE); fi
	$(GO) tool staticcheck ./...
	bin/flowrun fmt -d $$(git ls-files 'examples/*.flow' 'stdlib/*.flow' 'bench/*.flow')

generated:
	@.ci/generated

cover: build
	$(GO) $(TEST) -coverpkg=./... -coverprofile=bin/cover.out ./...
	$(GO) tool cover -func=bin/cover.out | tail -n 1

fmt:
	gofmt -w $$(git ls-files '*.go')
	$(GO) run ./cmd/flowrun fmt -w $$(git ls-files 'examples/*.flow' 'stdlib/*.flow' 'bench/*.flow')

bench: setup
	$(GO) run ./bench

soak: setup build
	SOAK_SECONDS=$(SOAK_SECONDS) .ci/soak
