# make            build/sgprobe (no network, nothing installed)
# make demo       install what is missing, build, run the main job on a simulated drive
# make check      install what is missing, build, run every test
# make check-hba  the same against six emulated host bus adapters (QEMU; some 200 MB are fetched, once)
# make bench      how fast the parts are, beside their goals
# make test       build and run the unit tests alone
# make faults     the whole fault campaign (make check runs a sample)
# make docs       make man/sgprobe.8 and the README's session anew after a subcommand, an option or an output has changed
# make truth      random drives with planted cliffs: how often is the verdict true?
# make deb        a Debian package of it
# make install    DESTDIR and PREFIX are honoured; uninstall takes it all away
VERSION  := 0.1
PREFIX   ?= /usr/local
DESTDIR  ?=
VARIANT  ?= release

CXX       ?= g++
CXXFLAGS_release := -O2 -g1
CXXFLAGS_debug   := -O0 -g
CXXFLAGS_asan    := -O0 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
CXXFLAGS_fuzz    := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all
# clang alone has libFuzzer, and it builds the sanitized tests in half of the time that g++ takes.
ifneq ($(filter asan fuzz,$(VARIANT)),)
CXX := clang++-16
endif
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
CPPFLAGS += -Iinclude -DSGPROBE_VERSION='"$(VERSION)"' -DTOML_SHARED_LIB=1 -DTOML_HEADER_ONLY=0
CXXFLAGS += -std=c++20 $(WARNINGS) $(CXXFLAGS_$(VARIANT))
LDLIBS   += -lsimdjson -lsgutils2 -lboost_program_options -lfmt -ltomlplusplus

JOBS     ?= $(shell nproc)
FOLDERS  := scsi transport sim pages measure report cli
BUILD    := build/$(VARIANT)
SOURCES  := $(sort $(wildcard $(FOLDERS:%=src/%/*.cpp)))
LIBRARY  := $(filter-out src/cli/main.cpp,$(SOURCES))
TESTS    := tests/main.cpp $(sort $(wildcard $(FOLDERS:%=tests/%/*.cpp)))
SERVER   := $(wildcard tests/kernel/*.cpp)
OBJECTS  := $(SOURCES:%.cpp=$(BUILD)/%.o)
# Data files compiled in: one generated source holds every file of a list (see tools/embed).
EMBEDDED := $(sort $(wildcard src/sim/drives/*.toml modepages/*.toml modepages/experiments/*.toml src/pages/*.tsv src/pages/quirks/*))

.PHONY: truth bench faults all test sanitized fuzz fuzzers check check-hba demo clean install uninstall docs completion deb check-deb
all: build/sgprobe

ifeq ($(VARIANT),release)
build/sgprobe: $(BUILD)/sgprobe
	ln -sf release/sgprobe $@
else
build/sgprobe: $(BUILD)/sgprobe
endif

$(BUILD)/libsgprobe.a: $(LIBRARY:%.cpp=$(BUILD)/%.o) $(BUILD)/embedded.o
	@rm -f $@
	ar rcs $@ $^
$(BUILD)/sgprobe: $(BUILD)/src/cli/main.o $(BUILD)/libsgprobe.a
	$(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/unit-tests: $(TESTS:%.cpp=$(BUILD)/%.o) $(BUILD)/libsgprobe.a
	$(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/tcmu-serve: $(SERVER:%.cpp=$(BUILD)/%.o) $(BUILD)/libsgprobe.a
	$(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -MD -MP -c -o $@ $<
$(BUILD)/embedded.o: $(BUILD)/embedded.cpp
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -c -o $@ $<
$(BUILD)/embedded.cpp: tools/embed $(EMBEDDED)
	@mkdir -p $(@D)
	tools/embed $(EMBEDDED) > $@.tmp && mv $@.tmp $@

$(BUILD)/truth: $(BUILD)/tests/truth/size_truth.o $(BUILD)/libsgprobe.a
	$(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# TRUTH_DRIVES of each of 24 kinds; each is judged by what was planted in it
TRUTH_DRIVES ?= 250
.PHONY: truth truth-limits
truth: $(BUILD)/truth truth-limits
	$(BUILD)/truth $(TRUTH_DRIVES)

# The tests of what takes bytes from drives, models and files, under AddressSanitizer and UndefinedBehaviorSanitizer.
SANITIZED := scsi transport sim pages
sanitized:
	$(MAKE) VARIANT=asan FOLDERS="$(SANITIZED)" build/asan/unit-tests

test: build/sgprobe $(BUILD)/unit-tests
	$(BUILD)/unit-tests

# Fuzz targets (tests/fuzz/fuzz.h): each links only the folders that it names, built by clang with libFuzzer.
FUZZ_TARGETS := $(basename $(notdir $(wildcard tests/fuzz/*.cpp)))
FUZZ_SECONDS ?= 600
define fuzz_target
$(BUILD)/fuzz-$(1): $(BUILD)/tests/fuzz/$(1).o $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard $(patsubst %,src/%/*.cpp,$(shell sed -n 's|^// folders: ||p' tests/fuzz/$(1).cpp)))) $(BUILD)/embedded.o
	$$(CXX) $$(CXXFLAGS) -fsanitize=fuzzer $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
ifeq ($(VARIANT),fuzz)
$(foreach target,$(FUZZ_TARGETS),$(eval $(call fuzz_target,$(target))))
endif
fuzzers: $(FUZZ_TARGETS:%=$(BUILD)/fuzz-%)
fuzz:
	$(MAKE) VARIANT=fuzz fuzzers
	tests/fuzz/run $(FUZZ_SECONDS)

# What the suites share is built before them, on all processors: no two of them then build the same file.
check:
	tools/install-packages build check
	$(MAKE) -j$(JOBS) all $(BUILD)/unit-tests $(BUILD)/truth $(BUILD)/tcmu-serve
	$(MAKE) -j$(JOBS) VARIANT=fuzz fuzzers
	$(MAKE) -j$(JOBS) sanitized
	tests/run

check-hba:
	tools/install-packages build hba
	$(MAKE) -j$(JOBS) all
	@mkdir -p build/test-results && rm -f build/test-results/kernel-hba.results
	RESULTS=$$PWD/build/test-results/kernel-hba.results tests/kernel/suite hba tests/kernel/hba/cases 1500

demo:
	tools/install-packages build demo
	$(MAKE) -j$(JOBS) all
	build/sgprobe size sim:atlas15k2-hpm5

# Every command of every kind of run, met by every kind of fault: prints how many runs there were and what was lost.
faults: $(BUILD)/unit-tests
	SGPROBE_FAULTS=full $(BUILD)/unit-tests -tc='faults:*'

# Campaigns over random drives, in full: limits and what cache tells. `make truth` runs them too.
truth-limits: $(BUILD)/unit-tests
	TRUTH_DRIVES=1000 CACHE_DRIVES=100 $(BUILD)/unit-tests -tc='limits: random*,cache: random*'

BENCHES  := $(sort $(wildcard tests/bench/*.cpp))
$(BUILD)/bench/%: tests/bench/%.cpp $(BUILD)/libsgprobe.a
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
bench: $(BENCHES:tests/bench/%.cpp=$(BUILD)/bench/%)
	@for bench in $^; do $$bench || exit 1; done

# What is made from the program's own lists and runs: the manual's section on the subcommands, the README's session.
# A suite (docs) tells when this was forgotten.
docs: build/sgprobe
	tools/make-man build/sgprobe man/sgprobe.8.in > build/sgprobe.8 && mv build/sgprobe.8 man/sgprobe.8
	tools/make-readme build/sgprobe README.md > build/README.md && mv build/README.md README.md
	LC_ALL=C.UTF-8 build/sgprobe size sim:atlas15k2-hpm5 --format=list --output=build/demo.list --plot=man/demo.svg --force

# What goes where, as "MODE SOURCE DESTINATION" below PREFIX; install and uninstall both read it.
MANUALS   := $(sort $(wildcard man/*.[1-8]))
INSTALLED := 755:build/sgprobe:bin/sgprobe \
             $(foreach m,$(MANUALS),644:$(m):share/man/man$(subst .,,$(suffix $(m)))/$(notdir $(m))) \
             $(foreach f,$(sort $(wildcard modepages/*.toml)),644:$(f):share/sgprobe/$(f)) \
             $(foreach f,$(sort $(wildcard modepages/experiments/*)),644:$(f):share/sgprobe/experiments/$(notdir $(f))) \
             $(foreach f,$(sort $(wildcard src/sim/drives/*.toml)),644:$(f):share/sgprobe/drives/$(notdir $(f))) \
             644:$(BUILD)/completion/sgprobe:share/bash-completion/completions/sgprobe \
             644:$(BUILD)/completion/_sgprobe:share/zsh/vendor-completions/_sgprobe \
             644:share/sgprobe-1.schema.json:share/sgprobe/sgprobe-1.schema.json \
             $(foreach f,$(sort $(wildcard src/pages/quirks/*)),644:$(f):share/sgprobe/quirks/$(notdir $(f))) \
             $(foreach f,$(sort $(wildcard examples/*)),644:$(f):share/doc/sgprobe/$(f)) \
             644:README.md:share/doc/sgprobe/README.md 644:LICENSE:share/doc/sgprobe/LICENSE

completion: $(BUILD)/completion/sgprobe $(BUILD)/completion/_sgprobe
$(BUILD)/completion/sgprobe: build/sgprobe
	@mkdir -p $(@D)
	build/sgprobe help --completion=bash > $@
$(BUILD)/completion/_sgprobe: build/sgprobe
	@mkdir -p $(@D)
	build/sgprobe help --completion=zsh > $@

# A Debian package of what install installs; `make check-deb` also has lintian look at it.
deb: all
	@tools/make-deb $(VERSION)
check-deb:
	tools/install-packages build check deb
	tests/run deb

install: all completion
	@set -e; for row in $(INSTALLED); do \
	    mode=$${row%%:*}; row=$${row#*:}; install -D -m $$mode "$${row%%:*}" "$(DESTDIR)$(PREFIX)/$${row#*:}"; done
	@echo installed in $(DESTDIR)$(PREFIX)
# Takes the files away, then the folders that are sgprobe's alone.
uninstall:
	@for row in $(INSTALLED); do rm -f "$(DESTDIR)$(PREFIX)/$${row##*:}"; done
	@for folder in share/sgprobe share/doc/sgprobe; do \
	    find "$(DESTDIR)$(PREFIX)/$$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true; done

clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
