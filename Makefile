# The targets run scripts. PG_CONFIG=/path/to/pg_config selects the Postgres (15 to 18). The default is the newest Debian
# Postgres with server headers; `make setup` installs one if there is none.
SHELL = /bin/bash
export PG_CONFIG DESTDIR

.PHONY: help setup setup-second install uninstall demo demo-stop test lint bench eval clean
.DEFAULT_GOAL = help

help:
	@echo 'make demo          install everything, start a throwaway server, and ask it questions (2 to 5 minutes the first time)'
	@echo 'make demo-stop     stop and delete the demo server'
	@echo 'make test          install everything and run the tests'
	@echo 'make lint          check formatting, code, scripts, and the install script'
	@echo 'make bench         install everything and measure performance'
	@echo 'make eval          measure routing and retrieval on the demo questions, or on your own: DDL= CASES= (see docs/)'
	@echo 'make setup         download what nl2sql needs to build and run: Debian packages, pgvector, ONNX Runtime, the model'
	@echo 'make setup-second  download Postgres 16 and 18 to build and test against, and print their PG_CONFIG'
	@echo 'make install       build the extension and install it into the Postgres of PG_CONFIG'
	@echo 'make uninstall     remove the installed files'
	@echo 'make clean         remove what was built here; keep the cache of downloads'
	@echo
	@echo 'PG_CONFIG=/path/to/pg_config  Postgres to use, 15 to 18 (default: the newest in /usr/lib/postgresql)'
	@echo 'NL2SQL_CACHE=DIR              cache of downloads (default: ~/.cache/nl2sql)'

setup:
	@docker/setup.sh

setup-second:
	@docker/setup.sh second

install: setup
	@docker/install.sh install

uninstall:
	@docker/install.sh uninstall

demo: install
	@sql/demo/demo.sh start

demo-stop:
	@sql/demo/demo.sh stop

test: install
	@tests/support/with-env.sh tests/run.sh

lint: setup
	@docker/setup.sh lint
	@tests/lint.sh

bench: install
	@tests/support/with-env.sh tests/bench/bench.sh

eval: install
	@DDL="$(DDL)" CASES="$(CASES)" EXAMPLES="$(EXAMPLES)" DATASOURCES="$(DATASOURCES)" OUT="$(OUT)" tests/support/with-env.sh tests/eval/eval.sh

clean: demo-stop
	rm -rf build target
