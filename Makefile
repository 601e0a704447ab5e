# Every target says what it is for in the comment behind it: `make help` prints them.
SHELL       := /bin/bash -o pipefail
GO          ?= go
# The newest release of the changelog. A build of its commit, which has the tag v$(VERSION), is that release; others say how far they are.
VERSION     := $(shell awk '/^## [0-9]/ {print $$2; exit}' CHANGELOG.md)
RELEASE     ?= $(shell (git describe --tags --match 'v[0-9]*' --dirty || echo v$(VERSION)-g$$(git describe --always --dirty --exclude '*' || echo unknown)) 2>/dev/null | sed 's/^v//')
COMMIT      ?= $(shell git rev-parse HEAD 2>/dev/null)
STATE       ?= .tradegrid
BIN         := bin/tradegrid
GOTESTSUM   := $(GO) run gotest.tools/gotestsum@v1.13.0 --format pkgname-and-test-fails --format-hide-empty-pkg
GOLANGCI    := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
DEADCODE    := $(GO) run golang.org/x/tools/cmd/deadcode@v0.52.0
WITHDB      := $(GO) run ./pkg/testkit/dbtest/withdb
CYCLONEDX   := $(GO) run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
TARGETS     ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
PACKAGES    ?= ./...
# Everything is built as it is released: static, and without a C compiler.
export CGO_ENABLED := 0
# Tests wait for databases, brokers and clocks most of the time, so more packages than processors run at once. `make lint` vets.
# Tests allocate much and keep little, so the collector runs less often; the limit keeps a process small where memory is.
FEW_COLLECTIONS := GOGC=400 GOMEMLIMIT=1GiB
# Packages that take longest begin first: none of them is left over at the end.
LONGEST      := ./services/roles ./services/dev ./services/console ./cmd/tradegrid ./tests/e2e ./pkg/api/httpapi ./pkg/events/outbox ./services/delivery/webhooks ./services/platform/company
# The parts of the dispatcher.
DISPATCHER   := $(addprefix ./services/delivery/,deadletter delay dispatch match reconcile router sender store sweeper)
# Tests of a new clone wait for the compiler and the linker half of the time. Without inlining and debug information, this module is
# compiled in two thirds of the time, also the binary that tests/e2e builds; without symbols, binaries are linked in half of it. Without
# paths, `make image-check` finds in the cache what this module depends on.
QUICK_BUILD  := GOFLAGS="$$($(GO) env GOFLAGS) -trimpath '-gcflags=github.com/tradegrid/tradegrid/...=-l -dwarf=false'"
QUICK_LINK   := -ldflags=-s
# Takes the flags of a quick build back, where code runs for longer than it is compiled: under the race detector.
INLINED      := -gcflags=github.com/tradegrid/tradegrid/...=
# The linter holds the whole program: its collector runs less often until a third of the memory is taken.
FEW_OF_LINTER := GOGC=400 GOMEMLIMIT=$(shell awk '/^MemTotal/ {limit = int($$2 / 3072)} END {print limit ? limit : 4096}' /proc/meminfo 2>/dev/null || echo 4096)MiB
SIDE_BY_SIDE := -vet=off $(QUICK_LINK) -p $(shell echo $$(( $$(nproc 2>/dev/null || echo 4) + 2 )))
# Packages of these folders whose tests use a database, and so begin transactions that can fail.
CHAOTIC       = $(shell grep -rlE --include='*_test.go' '(apitest|dbtest|tradetest|dispatchtest)\.' services/business services/platform services/delivery pkg/api/httpapi pkg/store/job pkg/store/numbering | sed 's|^|./|; s|/[^/]*$$||' | sort -u)
# Parts of the dispatcher whose tests use a broker.
ON_BROKERS    = $(shell grep -lE 'dispatchtest\.New\b|dbtest\.(Broker|RealBrokers)\b' $(DISPATCHER:%=%/*_test.go) | xargs -n 1 dirname | sort -u)
# Tests that look at plans or memory, make faults of their own, or open databases of their own, which have none: failing transactions show nothing new.
SHOWN        := ^TestPlansDo|UseTheirIndexes$$|LittleMemory$$|Under(Faults|Chaos)$$|^TestStrangersKeep
# Of this package, one test meets failing transactions: the one that takes every resource through its life.
LIVES        := ./services/roles
LIFE         := ^TestEveryResourceLives$$
SQL_LOG     := bin/sql.log
BENCH       ?= .
BENCHTIME   ?= 3s
CHAOS       ?= 0.2
# Set, `make test` does what `make test-chaos` does as well, right after the tests of each package, which saves linking them again.
WITH_CHAOS  ?=
TWICE        = ROOT='$(CURDIR)' CHAOTIC='$(CHAOTIC)' SHOWN='$(SHOWN)' LIVES='$(LIVES)' LIFE='$(LIFE)' CHAOS='$(CHAOS)'
# What gotestsum does with tests that fail. Only the suites on real brokers run them again, see test-kafka.
AGAIN       ?=

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: quick-build
quick-build: # prints the flags of quick builds
	@$(QUICK_BUILD); echo "$$GOFLAGS"

.PHONY: build
build: ## build the one binary into bin/
	$(GO) build -buildvcs=false -ldflags "-X github.com/tradegrid/tradegrid/services/roles.Release=$(RELEASE) -X github.com/tradegrid/tradegrid/services/roles.commit=$(COMMIT)" -o $(BIN) ./cmd/tradegrid

.PHONY: release
release: RELEASE := $(VERSION)
release: release-check ## build what a laptop or a server downloads, with checksums and a bill of materials, into dist/, all with the number of the release
	rm -rf dist && mkdir dist
	for target in $(TARGETS); do \
	  os=$${target%/*} name=tradegrid_$(RELEASE)_$${target/\//_} && \
	  GOOS=$$os GOARCH=$${target#*/} $(GO) build -trimpath -buildvcs=false -ldflags "-s -w -X github.com/tradegrid/tradegrid/services/roles.Release=$(RELEASE) -X github.com/tradegrid/tradegrid/services/roles.commit=$(COMMIT)" \
	    -o dist/$$name/$$([ $$os = windows ] && echo tradegrid.exe || echo tradegrid) ./cmd/tradegrid && \
	  cp LICENSE README.md dist/$$name && \
	  { [ $$target != $(firstword $(TARGETS)) ] || $(CYCLONEDX) bin -json -noserial -version v$(RELEASE) -output dist/tradegrid_$(RELEASE).cdx.json dist/$$name/tradegrid; } && \
	  tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - $$name | gzip -n >dist/$$name.tar.gz && rm -r dist/$$name || exit 1; \
	done
	tests/image/release dist $(RELEASE)
	cd dist && sha256sum * >SHA256SUMS && cat SHA256SUMS

.PHONY: release-check
release-check: ## check that changelog, program, chart, image and bill of materials say the same number
	cd tests/image && $(GOTESTSUM) -- -count=1 -run '^TestRelease' ./...

.PHONY: dev
dev: build ## run everything with a demo company until Ctrl-C
	@$(BIN) dev --state $(STATE) $(DEVFLAGS)

.PHONY: demo
demo: build ## the same with an end: place one order, see its webhook arrive, stop
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && $(BIN) dev --demo --state "$$dir" --listen 127.0.0.1:0 --ops-listen 127.0.0.1:0 --receiver-listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --console-listen 127.0.0.1:0 $(DEVFLAGS)

.PHONY: test
test: ## run all tests against an embedded database and broker
	@mkdir -p bin && log=$$(mktemp bin/sql.XXXXXX) && trap 'rm -f "$$log"' EXIT && export TRADEGRID_SQL_LOG="$(CURDIR)/$$log" && \
	  $(FEW_COLLECTIONS) $(QUICK_BUILD) $(if $(WITH_CHAOS),$(TWICE)) $(WITHDB) $(GOTESTSUM) $(AGAIN) --packages "$(if $(filter ./...,$(PACKAGES)),$(LONGEST)) $(PACKAGES)" -- $(SIDE_BY_SIDE) $(if $(WITH_CHAOS),-exec '$(CURDIR)/tests/chaos/twice') $(TESTFLAGS) $(if $(filter-out -count=%,$(TESTFLAGS) $(PACKAGES:./...=)),, && mv "$$log" $(SQL_LOG))

.PHONY: test-chaos
test-chaos: ## run the tests of the API with failing transactions: retries asked for, commits without an answer
	TRADEGRID_TEST_CHAOS=$(CHAOS) $(FEW_COLLECTIONS) $(QUICK_BUILD) $(WITHDB) $(GOTESTSUM) $(AGAIN) --packages "$(CHAOTIC)" -- $(SIDE_BY_SIDE) -count=1 -skip '$(SHOWN)'
	TRADEGRID_TEST_CHAOS=$(CHAOS) $(FEW_COLLECTIONS) $(QUICK_BUILD) $(WITHDB) $(GOTESTSUM) $(AGAIN) --packages $(LIVES) -- $(SIDE_BY_SIDE) -count=1 -run '$(LIFE)'

.PHONY: test-race
test-race: ## run the tests of the concurrent parts under the race detector
	$(WITHDB) $(GOTESTSUM) --raw-command -- env CGO_ENABLED=1 $(GO) test -json -vet=off $(INLINED) $(QUICK_LINK) -race -count=1 -skip '^TestPlansDo' \
	  ./pkg/store/db/... ./pkg/events/kafka/... ./pkg/events/outbox/... ./pkg/store/groupcommit/... ./pkg/store/numbering/... ./pkg/api/ratelimit/... $(DISPATCHER) ./services/dev/receiver/...

.PHONY: test-kill
test-kill: ## kill and freeze relays at their weakest points, from inside
	$(WITHDB) $(GOTESTSUM) $(AGAIN) --packages "./pkg/kit/failpoint ./pkg/events/outbox" -- -tags failpoint -ldflags '-X github.com/tradegrid/tradegrid/pkg/kit/failpoint.obeysEnvironment=yes' -count=1 -run Killed

.PHONY: test-cockroach
test-cockroach: ## run all tests on CockroachDB: a cockroach on PATH, or the one that TRADEGRID_COCKROACH names
	@mkdir -p bin && log=$$(mktemp bin/sql.XXXXXX) && trap 'rm -f "$$log"' EXIT && \
	  export TRADEGRID_TEST_DATABASE=cockroach TRADEGRID_SQL_LOG="$(CURDIR)/$$log" && $(WITHDB) sh -c \
	  '$(GOTESTSUM) -- -count=1 -timeout 60m $(TESTFLAGS) $(PACKAGES) && cd tests/dialect && $(GOTESTSUM) -- -count=1 -timeout 20m ./...'

# Tests of topics.Apply and of TLS (pkg/events/kafka), of `tradegrid dev` (tests/e2e) and of rows that wait (pkg/events/outbox) start the broker
# of `tradegrid dev` themselves; tests/kafka has their counterparts for real ones.
# Brokers on a busy machine hear late of topics: a test that fails is run again, which the output shows, at most twice.
test-kafka: AGAIN := --rerun-fails=2 --rerun-fails-max-failures=3

.PHONY: test-kafka
test-kafka: ## run the Kafka-facing tests on three real Apache Kafka brokers: needs Java 17 and Maven
	@mkdir -p bin/kafka && rm -f bin/kafka/report.txt
	$(QUICK_BUILD) $(WITHDB) $(GO) run ./tests/kafka/withkafka sh -c '\
	  $(GOTESTSUM) $(AGAIN) --packages "./tests/e2e ./services/roles ./services/platform/company ./pkg/api/loadshed ./pkg/testkit/dbtest" -- -vet=off $(QUICK_LINK) -count=1 -timeout 10m -run "^Test(AllTopics|Relay|Rebalance|Dispatcher|Order|Receivers?|Nodes|OneTrace|Invalidations|KafkaProbe|Broker)" >bin/kafka/roles.log 2>&1 & \
	  $(GOTESTSUM) $(AGAIN) --packages "./tests/kafka ./pkg/events/kafka ./pkg/events/outbox $(ON_BROKERS)" -- -vet=off $(QUICK_LINK) -tags kafka -count=1 -timeout 10m -skip "^TestPlansDo"; failed=$$?; \
	  wait $$! || failed=1; cat bin/kafka/roles.log; exit $$failed'
	@cat bin/kafka/report.txt

.PHONY: dialect
dialect: $(SQL_LOG) ## check every SQL statement, also those that the tests sent, for CockroachDB and PostgreSQL
	TRADEGRID_SQL_LOG=$(CURDIR)/$(SQL_LOG) $(WITHDB) sh -c 'cd tests/dialect && $(GOTESTSUM) -- -count=1 ./...'

# The statements of a whole and good run of the tests; it is made anew when a source has changed since.
$(SQL_LOG): $(shell find cmd pkg services topics schemas tests -name '*.go' -o -name '*.sql')
	$(MAKE) test PACKAGES=./... TESTFLAGS=

.PHONY: chart
chart: ## check the Helm chart: what it renders for Kubernetes, what it refuses
	cd tests/chart && $(GOTESTSUM) -- -count=1 ./...

.PHONY: chart-docs
chart-docs: ## write the table of values into the chart's README, the schema of values and the flags of the roles
	cd tests/chart && $(GO) test -count=1 -run '^Test(Readme|Schema|Flags)(Is|Are)UpToDate$$' . -update

.PHONY: schemas
schemas: build ## write the API description and the event schemas into schemas/
	$(BIN) openapi --write schemas

.PHONY: examples
examples: schemas ## record the examples of operations and events from the walks of the contract, and write them into schemas/
	TRADEGRID_WRITE_EXAMPLES=1 $(WITHDB) $(GO) test -count=1 -run '^(TestAnswersAndEventsMatchTheirSchemas|TestAdminAnswersMatchTheirSchemas)$$' ./services/roles
	$(MAKE) schemas

.PHONY: docs-speed
docs-speed: build ## measure how long the pages of the documentation take to load: needs Node.js, npm and Chromium
	tests/docs/speed/run

.PHONY: schemas-check
schemas-check: build ## fail when schemas/ differs from what the code says, has faults for Redocly or Spectral (with Node.js), or breaks clients of the last release
	$(BIN) openapi --check schemas
	tests/openapi/lint
	GO=$(GO) tests/openapi/compatible

.PHONY: released
released: ## keep the API descriptions as those of a release, with which `make schemas-check` compares later ones
	mkdir -p schemas/openapi/released && cp schemas/openapi/openapi.json schemas/openapi/admin.json schemas/openapi/released/

CHROMIUM    ?= $(shell tests/console/chromium.sh)

.PHONY: console-check
console-check: build ## walk the console with a browser: sign-in, each page in light and dark, wide and narrow, axe-core; screenshots into bin/console
	@[ -n "$(CHROMIUM)" ] || { echo 'console-check: no Chromium on PATH. Install it (Debian: tests/console/install.sh) or name it: make console-check CHROMIUM=/path' >&2; exit 1; }
	tests/console/axe.sh bin/tools/axe.min.js
	rm -rf bin/console && mkdir -p bin/console
	cd tests/console && TRADEGRID_BINARY=$(CURDIR)/$(BIN) CHROMIUM=$(CHROMIUM) AXE=$(CURDIR)/bin/tools/axe.min.js SHOTS=$(CURDIR)/bin/console $(GOTESTSUM) -- -count=1 -timeout 20m ./...

.PHONY: console-vendor
console-vendor: ## fetch the script that the console takes from its npm package again, and check its sum
	services/console/web/assets/vendor.sh

.PHONY: rules
rules: build bin/tools/promtool ## check dashboards, alert rules, their tests and runbooks, also against a running Prometheus
	bin/tools/promtool check rules charts/tradegrid/rules/*.yaml
	bin/tools/promtool test rules tests/ops/rules/*.yaml
	cd tests/ops && $(GOTESTSUM) -- -count=1 ./...

bin/tools/promtool:
	@tests/ops/prometheus.sh bin/tools

.PHONY: dashboards
dashboards: ## write the Grafana dashboards into the chart
	cd tests/ops && $(GO) run ./dashboards/write $(CURDIR)/charts/tradegrid/dashboards

.PHONY: metrics
metrics: build ## write the list of metrics into docs/
	$(BIN) metrics --write docs/metrics.md

.PHONY: resource
resource: ## follow "Add a resource" of CONTRIBUTING.md in a copy of the tree
	$(QUICK_BUILD) $(WITHDB) tests/resource/run

.PHONY: lint
lint: ## static checks
	@# It needs all packages compiled, as `make test` has compiled them.
	$(FEW_OF_LINTER) $(QUICK_BUILD) $(GOLANGCI) run
	@# Examples without output only compile.
	@dead=$$($(FEW_OF_LINTER) $(DEADCODE) -tags kafka,failpoint,jaeger -test ./...) && dead=$$(echo "$$dead" | sed '/example_test.go.* func: Example/d') && [ -z "$$dead" ] || { echo "$$dead"; echo "make lint: nothing calls these functions: delete them"; exit 1; }
	$(GO) mod verify >/dev/null

.PHONY: fmt
fmt: ## format the code
	$(GOLANGCI) fmt

.PHONY: rest
rest: lint schemas-check dialect rules test-chaos test-race test-kill resource chart image-check demo load-check fuzz-check clients integrations standardwebhooks ## what `check` runs beside the tests

.PHONY: check
check: test rest ## everything that CI runs

.PHONY: test-telemetry
test-telemetry: ## find one order as one trace in a real Jaeger (the first time builds it for some minutes)
	tests/tools/jaeger.sh bin/tools/jaeger
	TRADEGRID_JAEGER=$(CURDIR)/bin/tools/jaeger $(WITHDB) $(GOTESTSUM) -- -tags jaeger -count=1 -run Jaeger ./tests/e2e

.PHONY: image
image: ## build the container image with docker, podman or buildah
	@for tool in docker podman buildah; do command -v $$tool >/dev/null && exec $$tool build --build-arg RELEASE=$(RELEASE) --tag tradegrid:$(RELEASE) --tag tradegrid:dev .; done; \
	  echo "make image: needs docker, podman or buildah on PATH"; exit 1

.PHONY: image-check
image-check: ## check Dockerfile and compose.yaml without a container engine
	cd tests/image && $(GOTESTSUM) -- -count=1 ./...

.PHONY: bench
bench: ## the figures of docs/performance.md
	$(WITHDB) --durable $(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -count=1 ./tests/bench/...
	$(GO) test -run '^$$' -bench '^BenchmarkIsolation$$|^BenchmarkOneRecord$$' -benchtime 1x -count=1 ./services/delivery/sender

.PHONY: load
load: build ## run one load scenario with k6: SCENARIO=steady, see docs/load.md
	@STATE=$(STATE) loadtest/run "$(SCENARIO)"

.PHONY: load-check
load-check: build ## see that every load scenario is well formed, and run the smallest against a `tradegrid dev` of its own
	@loadtest/check

.PHONY: fuzz
fuzz: build ## test both APIs from their descriptions for some minutes: needs Python 3; SEED, EXAMPLES and FUZZ_SECONDS change the run
	@tests/fuzz/run

.PHONY: clients
clients: build ## generate the clients of docs/clients.md and call the API with them, in the languages whose tools are installed
	@tests/clients/run

.PHONY: integrations
integrations: build ## run the programs of docs/integrations.md, in the languages whose tools are installed, and count their calls
	@tests/integrations/run

.PHONY: standardwebhooks
standardwebhooks: ## verify deliveries with the libraries of Standard Webhooks, in the languages whose tools are installed
	@tests/standardwebhooks/run

# Machines without Python check everything else.
.PHONY: fuzz-check
fuzz-check:
	@if tests/fuzz/run --possible; then $(MAKE) fuzz; else echo "make fuzz left out: it needs python3 with venv"; fi

.PHONY: clean
clean: ## remove what the build and `make dev` leave
	rm -rf bin $(STATE)
