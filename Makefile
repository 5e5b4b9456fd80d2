# make            build/sgprobe (no network, nothing installed)
# make demo       install what is missing, build, run the main job on a simulated drive
# make check      install what is missing, build, run every test
# make check-hba  the same against six emulated host bus adapters (QEMU; some 200 MB are fetched, once)
# make bench      how fast the parts are, beside their goals
# make test       build and run the unit tests alone
# make install    DESTDIR and PREFIX are honoured; uninstall takes it all away
VERSION  := 0.1
PREFIX   ?= /usr/local
DESTDIR  ?=
VARIANT  ?= release

CXX       ?= g++
CXXFLAGS_release := -O2 -g1
CXXFLAGS_debug   := -O0 -g
CXXFLAGS_asan    := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
CXXFLAGS_fuzz    := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all
ifeq ($(VARIANT),fuzz)
CXX := clang++-16
endif
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
CPPFLAGS += -Iinclude -DSGPROBE_VERSION='"$(VERSION)"' -DTOML_SHARED_LIB=1 -DTOML_HEADER_ONLY=0
CXXFLAGS += -std=c++20 $(WARNINGS) $(CXXFLAGS_$(VARIANT))
LDLIBS   += -lsimdjson -lsgutils2 -lboost_program_options -lfmt -ltomlplusplus

FOLDERS  := scsi transport sim pages measure report cli
BUILD    := build/$(VARIANT)
SOURCES  := $(sort $(wildcard $(FOLDERS:%=src/%/*.cpp)))
LIBRARY  := $(filter-out src/cli/main.cpp,$(SOURCES))
TESTS    := tests/main.cpp $(sort $(wildcard $(FOLDERS:%=tests/%/*.cpp)))
SERVER   := $(wildcard tests/kernel/*.cpp)
OBJECTS  := $(SOURCES:%.cpp=$(BUILD)/%.o)
# Data files compiled in: one generated source holds every file of a list (see tools/embed).
EMBEDDED := $(sort $(wildcard src/sim/drives/*.toml modepages/*.toml modepages/experiments/*.toml src/pages/*.tsv src/pages/quirks/*))

.PHONY: bench all test fuzz fuzzers check check-hba demo clean install uninstall
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

check:
	tools/install-packages build check
	$(MAKE) all
	tests/run

check-hba:
	tools/install-packages build hba
	$(MAKE) all
	@mkdir -p build/test-results && rm -f build/test-results/kernel-hba.results
	RESULTS=$$PWD/build/test-results/kernel-hba.results tests/kernel/suite hba tests/kernel/hba/cases 600

demo:
	tools/install-packages build demo
	$(MAKE) all
	build/sgprobe size sim:atlas15k2-hpm5

BENCHES  := $(sort $(wildcard tests/bench/*.cpp))
$(BUILD)/bench/%: tests/bench/%.cpp $(BUILD)/libsgprobe.a
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
bench: $(BENCHES:tests/bench/%.cpp=$(BUILD)/bench/%)
	@for bench in $^; do $$bench || exit 1; done

clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
