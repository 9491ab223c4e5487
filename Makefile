# The verbs of this repository. `make help` lists them; CONTRIBUTING.md says when to use which.

.PHONY: help quick test race lint fuzz generate bench ci

help: ## list the verbs
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

quick: ## build, vet, and the tests of the deciding core: under 20 s on two cores
	go build ./...
	go vet ./referee/... ./ledger ./internal/...
	go test ./internal/... ./referee/formula ./referee/policy ./referee/evidence ./ledger ./summary .

test: ## every test that needs no Docker, browser, jq or npm
	go test ./...

race: ## the same under the race detector, as .ci/run does; takes minutes
	.ci/race

lint: ## format, vet, staticcheck, actionlint
	@test -z "$$(git ls-files '*.go' | xargs gofmt -l)" || { git ls-files '*.go' | xargs gofmt -l; exit 1; }
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	go tool -modfile=tools/go.mod actionlint

fuzz: ## every fuzz target for ten seconds (.ci/run takes three); FUZZTIME=1m make fuzz for more
	.ci/fuzz

generate: ## make every generated file anew: documents, schemas, pages, golden files; read the difference
	go generate ./...

bench: ## the comparisons and the ledger's figures of docs/performance.md
	bench/compare.sh
	bench/ledger.sh

ci: ## everything, as on a new machine
	.ci/run
