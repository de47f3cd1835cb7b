# Thin: what each target does is in docker/ and tests/. PG_CONFIG=/path/to/pg_config picks the Postgres (15 to 18);
# without it, the newest Debian one with server headers, which `make setup` installs if there is none.
SHELL = /bin/bash
export PG_CONFIG DESTDIR

.PHONY: help setup setup-second install uninstall demo demo-stop test lint bench eval clean
.DEFAULT_GOAL = help

help:
	@echo 'make demo          install all that is needed, start a throwaway server, ask it questions (2 to 5 minutes at first)'
	@echo 'make demo-stop     stop and delete that server'
	@echo 'make test          install all that is needed and run the tests'
	@echo 'make lint          check formatting, code, scripts, and the install script'
	@echo 'make bench         the same, and measure'
	@echo 'make eval          measure routing and retrieval on the demo'"'"'s questions; on others with DDL= and CASES= (docs/development.md)'
	@echo 'make setup         only fetch what nl2sql builds and runs with: Debian packages, pgvector, ONNX Runtime, the model'
	@echo 'make setup-second  fetch Postgres 16 and 18 to build and test against, and print their PG_CONFIG'
	@echo 'make install       build the extension and install it into the Postgres of PG_CONFIG'
	@echo 'make uninstall     remove what install put there'
	@echo 'make clean         remove what was built here; downloads stay in the cache'
	@echo
	@echo 'PG_CONFIG=/path/to/pg_config  which Postgres, 15 to 18 (default: the newest in /usr/lib/postgresql)'
	@echo 'NL2SQL_CACHE=DIR              where downloads are kept (default: ~/.cache/nl2sql)'

setup:
	@docker/setup.sh

setup-second:
	@docker/setup.sh second

install: setup
	@docker/install.sh install

uninstall:
	@docker/install.sh uninstall

demo: install
	@docker/demo.sh start

demo-stop:
	@docker/demo.sh stop

test: install
	@docker/with-env.sh tests/run.sh

lint: setup
	@docker/setup.sh lint
	@tests/lint.sh

bench: install
	@docker/with-env.sh tests/bench.sh

eval: install
	@DDL="$(DDL)" CASES="$(CASES)" EXAMPLES="$(EXAMPLES)" DATASOURCES="$(DATASOURCES)" OUT="$(OUT)" docker/with-env.sh tests/eval.sh

clean: demo-stop
	rm -rf build target
