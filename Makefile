# The front door. `make help` lists the targets. Cargo's output goes to target/, or to $CARGO_TARGET_DIR.
SHELL := /bin/bash
CARGO := scripts/cargo.sh
PREFIX ?= /usr/local
export PREFIX DESTDIR

all: ## Build the tools: instr, instr-cc, instr-rewrite (the default)
	@scripts/setup.sh demo
	$(CARGO) build --release
	@scripts/links.sh

demo: all ## Trace two versions of a small program and show what came out
	@scripts/demo.sh

test: ## Check everything: format, lints, tests, examples, SPARC under an emulator
	@scripts/setup.sh test
	@scripts/test.sh

cross: all ## Build and run the examples for SPARC, 32 and 64 bits
	@scripts/setup.sh test
	@scripts/cross.sh

rtems: ## Build the examples for an RTEMS board: RTEMS_BSP=gr740 (docs/porting.md)
	@scripts/rtems.sh check
	@$(MAKE) --no-print-directory all
	@scripts/rtems.sh

test-all: all ## The same with release tools, and what takes longer: all of SPARC V9, all releases of libomp, libgomp's own tests, fuzzing, planted faults
	@INSTR_TEST_ALL=1 scripts/setup.sh test
	@INSTR_TEST_ALL=1 INSTR_TEST_PROFILE=release scripts/test.sh
	@scripts/libomp-versions.sh
	@scripts/conformance.sh $(CONFORMANCE)
	@scripts/fuzz-smoke.sh
	@scripts/planted-faults.sh

bare-machines: ## As root: try these commands on bare Debian and Ubuntu machines (debootstrap)
	@scripts/bare-machines.sh $(BARE)

conformance: all ## Run libgomp's own test programs, plainly and instrumented, and ours with libomp 15 to 21
	@scripts/setup.sh test
	@scripts/libomp-versions.sh
	@scripts/conformance.sh $(CONFORMANCE)

bench: all ## Measure overhead, size and speed
	@scripts/bench.sh

golden: ## Rewrite the expected outputs kept in the tree and show the difference
	@scripts/golden.sh

planted-faults: ## Plant faults in a copy of the tree and expect the tests to catch each: FAULTS=NAME
	@scripts/setup.sh test
	@scripts/planted-faults.sh $(FAULTS)

fuzz-smoke: ## Feed random and broken inputs to every parser, a minute each
	@scripts/fuzz-smoke.sh

docs: ## Build the reference of the Rust crates
	$(CARGO) doc --workspace --no-deps

check: ## Format, lints, reference of the crates
	@scripts/lints.sh

install: ## Install what make built below PREFIX (default /usr/local; DESTDIR is respected); never compiles
	@scripts/install.sh

uninstall: ## Remove what make install put below PREFIX
	@scripts/uninstall.sh

deb: all ## Make a Debian package of the tools
	@scripts/deb.sh

wheels: ## Make wheels of the Python package for the Pythons that are here, in target/wheels
	@scripts/wheels.sh

clean: ## Remove everything that was built
	$(CARGO) clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: all demo test test-all bare-machines cross rtems conformance bench golden planted-faults fuzz-smoke docs check install uninstall deb wheels clean help
