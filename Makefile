# dp_rdr: build, install and test.
#
#   make                   the library dp_rdr.so, against PostgreSQL 15 to 18
#   make install           as root; then CREATE EXTENSION dp_rdr
#   make test              every suite on throwaway servers, from a bare Debian 12 on
#   make check             what is likely to see a mistake in what has changed, in a few minutes
#   make test-matrix       the same on PostgreSQL 15, 17 and 18, and pg_upgrade between them; as root
#   make test-asserts      the suites of a server on a PostgreSQL with assertions, which it builds; as root
#   make browser           the report in a browser, which it installs
#   make demo              a guided tour in the terminal, on a throwaway server
#   make bench             timings beside PostgreSQL's own plain queries
#   make seeded            many more questions than make test asks of neighbouring databases with the same random bytes
#   make test-citus        tables that Citus distributes, on four servers; CITUS_SOURCE=DIR: where it has been built
#   make groups            lists of groups that follow from expressions, against all values that are permitted
#   make mutants           plants mistakes, one at a time: a suite has to see each; goes on where it was interrupted
#   make mutants-check     whether each of them still applies
#   make mutants-compile   whether the tree compiles with each of them
#   make escrow            what each protection adds to a count: noise, TLS, requests, encrypted disks and columns
#   make soak              many clients at once for a while, then an audit of the ledger; made-up statements; a long audit
#   make dist              the archive for PGXN, build/dp_rdr-VERSION.zip
#   make deb               a Debian package, build/deb/*.deb, and a look at it
#   make container         builds and tries doc/Containerfile
#   make base              the files that the guarantee rests on, with their lines, and plug-ins apart
#   make rooms             includes between the folders of src/, and numbers that may only fall; needs no server
#   make compile_commands.json  what clangd and clang-tidy read
#   make unit              the unit tests of src/core, src/privacy and src/picture alone (no server)
#   make unit-sanitize     the same under AddressSanitizer and UBSan
#   make installcheck      the SQL, isolation and TAP suites against the server that PG* points to
#
# PGVERSION says which version of PostgreSQL to build against and to test with, 15 unless set.
# WERROR=1 turns warnings into errors, ASSERTIONS=1 compiles the assertions in; make test uses both.

PGVERSION ?= 15
export PGVERSION
# On Debian /usr/bin/pg_config may be the one of libpq-dev, which knows no server.
PG_CONFIG ?= $(firstword $(wildcard /usr/lib/postgresql/$(PGVERSION)/bin/pg_config) pg_config)
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)

MODULE_big = dp_rdr
PGFILEDESC = "dp_rdr - differential privacy at a price set by disclosure risk"
OBJS := $(patsubst %.cpp,%.o,$(sort $(wildcard src/*.cpp src/*/*.cpp)))

EXTENSION = dp_rdr
DATA = $(wildcard src/dp_rdr--*.sql)

# setup creates the extension, the roles and the data that the other files use.
REGRESS_FILES := $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
REGRESS := $(filter setup,$(REGRESS_FILES)) $(filter-out setup,$(REGRESS_FILES))
ENCODING = UTF8
NO_LOCALE = 1

ISOLATION := $(patsubst test/specs/%.spec,%,$(sort $(wildcard test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test --outputdir=test

TAP_TESTS = 1
PROVE_TESTS = test/t/*.pl

EXTRA_CLEAN = build $(OBJS:.o=.d) test/results test/output_iso test/regression.diffs test/regression.out

# Bitcode would only let the JIT inline functions that run statements or draw noise.
override with_llvm = no

# PGXS adds the server's headers with -I; named by -isystem as well they count as system headers and stay silent.
# Written without a space, so that the flags of src/privacy below can drop them.
PG_CPPFLAGS = -Isrc $(patsubst %,-isystem%,$(shell $(PG_CONFIG) --includedir-server 2>/dev/null)) -MMD -MP
# gnu++17, not c++17: nodes.h uses typeof.
WARNINGS = -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare
PG_CXXFLAGS = -std=gnu++17 $(WARNINGS) -Wno-register
ifneq (,$(findstring clang,$(CXX)))
# The server was configured for GCC and passes warning options that clang does not know.
PG_CXXFLAGS += -Wno-unknown-warning-option
endif
ifdef WERROR
WARNINGS += -Werror
endif
ifdef ASSERTIONS
PG_CPPFLAGS += -DUSE_ASSERT_CHECKING
endif
# The server loads libraries with RTLD_GLOBAL: none of ours may answer for another's symbol, nor another for one of ours.
SHLIB_LINK += -lstdc++ -Wl,--version-script=src/exports.map
# libpq asks other servers whether they are there (border/peers); the server's own replication uses it as well.
SHLIB_LINK += $(libpq)
src/border/peers.o: override CPPFLAGS += -isystem $(libpq_srcdir)

# make test, demo, bench, soak and mutants install PostgreSQL themselves, so they must work before it is there. PGXS has a
# target of the name check, which only says that there is none. SINCE: the commit that the tree is compared with, HEAD unless set.
ifeq (check,$(MAKECMDGOALS))
check:
	@test/check $(SINCE)
else ifneq (,$(wildcard $(PGXS)))
include $(PGXS)

# What an answer is worth is as random as the answer: suites that compare output are not told.
installcheck: export PGOPTIONS := -c dp_rdr.noise=silent
else
all install uninstall installcheck clean:
	@echo "PostgreSQL's extension makefile was not found: install postgresql-server-dev-$(PGVERSION), or pass PG_CONFIG=" >&2; exit 1
endif

# Names of functions and lines are what a backtrace needs; all else about types and variables is ten times as much, and takes
# as long to write as the code. DEBUG_INFO=-g keeps it.
DEBUG_INFO = -g1
override CXXFLAGS += $(DEBUG_INFO)

# The mathematics, and the plan of a question, stay portable: strict C++17, and no PostgreSQL header within reach.
PRIVACY_OBJS := $(filter src/privacy/% src/core/%,$(OBJS))
src/privacy/%.o src/core/%.o: override CPPFLAGS := $(filter-out -I% -isystem% -DUSE_ASSERT_CHECKING,$(CPPFLAGS)) -Isrc
src/privacy/%.o src/core/%.o: override CXXFLAGS := $(filter-out -std=%,$(CXXFLAGS)) -std=c++17

# The same for the pictures of a report. Its template, style and script become literals of the library; nothing that is made is kept
# beside the sources.
PICTURE_OBJS := $(filter src/picture/%,$(OBJS))
src/picture/%.o: override CPPFLAGS := $(filter-out -I% -isystem% -DUSE_ASSERT_CHECKING,$(CPPFLAGS)) -Isrc -Ibuild/literals
src/picture/%.o: override CXXFLAGS := $(filter-out -std=%,$(CXXFLAGS)) -std=c++17

LITERALS := $(patsubst src/%,build/literals/%.inc,$(wildcard src/picture/*.html src/picture/*.css src/picture/*.js))
build/literals/%.inc: src/%
	@mkdir -p $(@D)
	@(printf 'R"literal('; cat $<; printf ')literal"') >$@
src/picture/resources.o build/sanitized/src/picture/resources.o: $(LITERALS)

# ----------------------------------------------------------------------------------------------------------------------
# C++ tests (GoogleTest). build/obj holds plain objects, build/sanitized those with the sanitizers.
# ----------------------------------------------------------------------------------------------------------------------

SANITIZE = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
TEST_CPPFLAGS = -Isrc -Ibuild/literals -Itest/unit -Itest/statistics -DDP_TEST_DATA='"$(CURDIR)/test/unit"' -MMD -MP
# Most of the time goes into compiling: names of lines are all that reports need, and from source to result -Og is the
# quickest for tests, -O1 for what they test.
TEST_CXXFLAGS = -std=c++17 -g1 $(WARNINGS)
build/obj/%.o build/sanitized/test/%.o: TEST_CXXFLAGS += -Og
build/sanitized/src/%.o: TEST_CXXFLAGS += -O1
GTEST_LIBS = -lgtest_main -lgtest -pthread

test_objects = $(patsubst %.cpp,build/$(1)/%.o,$(sort $(wildcard $(2))))
UNIT_OBJS := $(call test_objects,obj,test/unit/*.cpp)
STATISTICS_OBJS := $(call test_objects,obj,test/statistics/*.cpp)
AUDIT_OBJS := $(call test_objects,obj,test/audit/*.cpp)
CLIENT_OBJS := $(call test_objects,obj,test/client/*.cpp)
SAMPLERS_OBJS := $(call test_objects,obj,test/bench/samplers.cpp)
COUNTS_OBJS := $(call test_objects,obj,test/bench/counts.cpp)
SANITIZED_OBJS := $(call test_objects,sanitized,test/unit/*.cpp src/core/*.cpp src/privacy/*.cpp src/picture/*.cpp)

build/obj/test/client/%.o: TEST_CPPFLAGS += -isystem $(shell $(PG_CONFIG) --includedir 2>/dev/null)

build/obj/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(TEST_CXXFLAGS) $(TEST_CPPFLAGS) -c -o $@ $<

build/sanitized/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(TEST_CXXFLAGS) $(SANITIZE) $(TEST_CPPFLAGS) -c -o $@ $<

build/unit: $(UNIT_OBJS) $(PRIVACY_OBJS) $(PICTURE_OBJS)
	$(CXX) -o $@ $^ $(GTEST_LIBS)

build/unit-sanitized: $(SANITIZED_OBJS)
	$(CXX) $(SANITIZE) -o $@ $^ $(GTEST_LIBS)

build/statistics: $(STATISTICS_OBJS) $(PRIVACY_OBJS)
	$(CXX) -o $@ $^ $(GTEST_LIBS)

build/audit: $(AUDIT_OBJS) $(PRIVACY_OBJS)
	$(CXX) -o $@ $^ $(GTEST_LIBS)

build/client: $(CLIENT_OBJS)
	$(CXX) -o $@ $^ -L$(shell $(PG_CONFIG) --libdir) -lpq $(GTEST_LIBS)

build/samplers: $(SAMPLERS_OBJS) $(PRIVACY_OBJS)
	$(CXX) -o $@ $^

build/counts: $(COUNTS_OBJS) $(PRIVACY_OBJS)
	$(CXX) -o $@ $^

unit: build/unit
	build/unit

unit-sanitize: build/unit-sanitized
	build/unit-sanitized

# Distributions of many draws; no server.
statistics: build/statistics
	build/statistics

# Looks for events that tell neighbouring tables apart better than the charge allows; no server. DP_AUDIT_DRAWS: how many
# draws of each table, 100000 unless set.
audit: build/audit
	build/audit

# Clients of the wire protocol, against the server that PG* points to.
client: build/client
	build/client

samplers: build/samplers
	build/samplers

# How many counts one total answers by accuracy.
counts: build/counts
	build/counts

# The library of test/greybox, whose random bits come from a file: the objects of make all, but for those that draw, and the
# one that names the library that a keeper loads. No other target builds or installs it, and only here is its header on the
# include path.
DRAWING := $(shell grep -lE 'release/(random|trace)\.hpp|DP_RDR_LIBRARY' $(OBJS:.o=.cpp))
GREYBOX_OBJS := $(DRAWING:%.cpp=build/greybox/%.o)
GREYBOX_CPPFLAGS = -Itest/greybox -DDP_RDR_BITS_FROM_FILE='"$(CURDIR)/build/greybox"' -DDP_RDR_LIBRARY='"$(CURDIR)/build/greybox/dp_rdr"'

build/greybox/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(GREYBOX_CPPFLAGS) $(CPPFLAGS) -c -o $@ $<

build/greybox/dp_rdr.so: $(GREYBOX_OBJS) $(filter-out $(DRAWING:.cpp=.o),$(OBJS))
	$(CXX) $(CXXFLAGS) -shared -o $@ $^ $(LDFLAGS) $(SHLIB_LINK)

# Neighbouring tables asked with the same bits, and what leaves the server measured against its laws: both against the
# server that PG* points to, where this tree is installed.
greybox: build/greybox/dp_rdr.so
	python3 test/greybox/run.py

neighbours: build/greybox/dp_rdr.so
	python3 test/neighbours/run.py

# Stands in the place of RAND_bytes in the server of test/seeded, which runs the library that is installed.
build/seeded/bytes.so: test/seeded/bytes.cpp
	@mkdir -p $(@D)
	$(CXX) -std=gnu++17 -O2 -fPIC $(WARNINGS) -shared -o $@ $< -ldl

# Whether the sources keep to the rooms of doc/architecture.md, and to the numbers that may only fall.
rooms:
	@python3 test/docs/rooms.py

# The files that the guarantee rests on (doc/guarantee.md), with their lines.
base:
	@python3 test/docs/base.py

# How each file is compiled, for clangd and clang-tidy.
compile_commands.json: Makefile
	@$(MAKE) --no-print-directory -Bnk all 2>/dev/null | python3 test/docs/commands.py >$@

# What people ask of made-up tables: what is answered, and what is refused how.
questions:
	python3 test/questions/run.py

# The library of test/batch: the objects of make all but for the module itself, a function that hands several charges to the
# ledger's writer at once, and one that reads in the wrong process. No other target builds it, and none installs it.
build/batch/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -DDP_RDR_BATCH_LIBRARY='"$(CURDIR)/build/batch/batch"' $(CPPFLAGS) -c -o $@ $<

BATCH_OBJS := $(patsubst %.cpp,build/batch/%.o,$(sort $(wildcard test/batch/*.cpp)))

build/batch/batch.so: $(BATCH_OBJS) $(filter-out src/dp_rdr.o,$(OBJS))
	$(CXX) $(CXXFLAGS) -shared -Wl,-Bsymbolic -o $@ $^ $(LDFLAGS) $(SHLIB_LINK)

batch: build/batch/batch.so
	python3 test/batch/run.py

# The neighbour of test/beside, a library that the server loads; none installs it.
build/beside/demanding.so: test/beside/demanding.cpp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) -shared -o $@ $<

blackbox:
	python3 test/blackbox/run.py

# ----------------------------------------------------------------------------------------------------------------------
# Whole runs on throwaway servers
# ----------------------------------------------------------------------------------------------------------------------

test:
	@test/run

test-matrix:
	@test/matrix/run

# SUITES: which, by the names of test/suites.sh; all unless set.
test-asserts:
	@test/asserts/run $(SUITES)

# CITUS_SOURCE: where Citus has been built for this server; without it the one that is installed is tried, if there is one.
test-citus:
	@test/citus/run $(CITUS_SOURCE)

browser:
	@test/browser/run

demo:
	@test/demo/run

bench:
	@test/bench/run

escrow:
	@test/escrow/run

# WORLDS: how many made-up domains (20 unless set), with 150 questions each; SEED: of all that is made up.
seeded:
	@test/seeded/run

groups:
	@test/groups/run

soak:
	@test/soak/run

mutants:
	@test/mutants/run

# Whether each mistake still applies to the tree and says what it has to.
mutants-check:
	@python3 test/mutants/plant --check test/mutants/*.edit

# Whether the tree compiles with each of them; some minutes.
mutants-compile:
	@python3 test/mutants/compile

# ----------------------------------------------------------------------------------------------------------------------
# Packages, in build/: the archive for PGXN, and a Debian package that is checked on a server of its own.
# ----------------------------------------------------------------------------------------------------------------------

dist:
	@test/packages/dist

deb:
	@test/packages/deb

# What doc/Containerfile says, built and tried.
container:
	@test/packages/container

.PHONY: dist deb container

.PHONY: rooms base unit unit-sanitize statistics audit client samplers counts greybox neighbours questions blackbox batch check test test-matrix test-asserts test-citus browser demo bench escrow seeded groups soak mutants mutants-check mutants-compile

-include $(OBJS:.o=.d) $(wildcard build/obj/*/*/*.d build/sanitized/*/*/*.d build/greybox/src/*/*.d build/batch/test/*/*.d)
