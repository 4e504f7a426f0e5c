# `make help` lists what there is; the other programs are in CONTRIBUTING.md. Everything is made inside this folder: .venv/
# (Python) and .build/ (Go programs).

PYTHON ?= python3
PORT ?= 8080
SETTINGS ?=
ENGINE ?= auto
PYTEST ?=
THOROUGH ?=
RESOLUTION ?= lowest-direct
IMAGE ?=
BUILDER ?=
BUILD_OPTIONS ?=
CONTEXT ?=
INGRESSES ?= keep
YES ?=
METACONTROLLER_CRDS ?=
DOMAIN ?=
bin := .venv/bin
uv = VIRTUAL_ENV=.venv $(bin)/uv pip --quiet
# Many tests wait for something. With more processes than these, a machine of two cores would serve visitors too late.
# What is covered is measured where it has to be all: of the core and of what the image runs. To measure the commands, too,
# takes a minute: `make test-all` does.
COVERED ?= --cov=ingress_manager/core --cov=hooks --cov=not_found
all_tests = $(bin)/python -m pytest --engine=$(ENGINE) --numprocesses 3 --dist loadgroup $(COVERED) \
	--cov-report term $(THOROUGH)

# Else each of the hundreds of programs that tests start would compile all of ingress-manager anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run demo cluster test test-all test-range test-node lint format docs docs-site dist cases lock image install uninstall

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What is installed is locked, by hashes: a release of somebody else's must not change what a test says.
$(bin)/.complete: setup.cfg pyproject.toml requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'Python 3.11 or later is needed; `make PYTHON=python3.13 …` names one.' >&2; exit 2; }
	@echo 'Installing the Python packages into .venv/ …' >&2
	@# Meanwhile, Go downloads what the control plane is built from, where it will be.
	@$(if $(KUBEBUILDER_ASSETS),,$(if $(filter demo cluster test,$(MAKECMDGOALS)),cd devcluster/controlplane && go list -deps tool >/dev/null 2>&1 &))
	@$(PYTHON) -m venv .venv
	@$(bin)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		"$$(sed -n 's/^\(uv==[0-9.]*\).*/\1/p' requirements-dev.txt)"
	@$(uv) sync --require-hashes requirements-dev.txt
	@$(uv) install --no-deps --no-build-isolation --editable .
	@touch $@

run: $(bin)/.complete  ## the hook alone on 127.0.0.1:8080; PORT=… and SETTINGS=file.yaml change that
	@INGRESS_MANAGER_SETTINGS='$(SETTINGS)' exec $(bin)/gunicorn --config python:hooks.gunicorn_conf \
		--bind 127.0.0.1:$(PORT) 'hooks.app:create_app()'

build_args = $(foreach arg,VERSION=$(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' ingress_manager/__init__.py) \
	REVISION=$(shell git describe --always --dirty --abbrev=40 --exclude='*' 2>/dev/null) \
	CREATED=$(shell git log -1 --format=%cI 2>/dev/null),--build-arg=$(arg))

image:  ## the image IMAGE=…, by docker, podman or buildah, or by BUILDER=…; BUILD_OPTIONS=… are the builder's own
	$(or $(BUILDER),$(notdir $(firstword $(foreach each,docker podman buildah,$(shell command -v $(each)))))) build \
		--file=Dockerfile --tag='$(IMAGE)' $(build_args) $(BUILD_OPTIONS) .

install: $(bin)/.complete  ## install on the cluster of CONTEXT=… with the image IMAGE=…, hosts below DOMAIN=…; each command is shown
	@exec $(bin)/python -m tools.install install --context '$(CONTEXT)' --crds '$(METACONTROLLER_CRDS)' --domain '$(DOMAIN)' $(if $(YES),--yes) -- '$(IMAGE)'

uninstall: $(bin)/.complete  ## remove it from the cluster of CONTEXT=…; it asks, or not with YES=1; every Ingress stays, or with INGRESSES=remove none
	@exec $(bin)/python -m tools.install uninstall --context '$(CONTEXT)' --ingresses '$(INGRESSES)' $(if $(YES),--yes)

demo: $(bin)/.complete  ## the whole story on a real control plane, told step by step; ENGINE=standin|metacontroller
	@exec $(bin)/python -m devcluster demo --engine $(ENGINE)

cluster: $(bin)/.complete  ## a real control plane with ingress-manager to play with; Ctrl-C ends it
	@exec $(bin)/python -m devcluster up --engine $(ENGINE)

test: $(bin)/.complete  ## what a change has to pass, three minutes; ENGINE=standin|metacontroller; or, wholly, the tests of PYTEST=…
	@$(bin)/python -m devcluster build --if-possible
	@$(if $(PYTEST),$(bin)/python -m pytest --engine=$(ENGINE) --thorough $(PYTEST),$(all_tests))

test-all: $(bin)/.complete  ## all but test-node, trying more in each; first builds Helm
	@$(bin)/python -m devcluster build --helm --if-possible
	@$(MAKE) --no-print-directory test-range
	@$(MAKE) --no-print-directory test COVERED="--cov --cov-fail-under=99" THOROUGH='--thorough --durations 25'

# A part of `make test-all`: the program with the lowest versions that setup.cfg allows, or RESOLUTION=highest.
test-range: $(bin)/.complete
	@$(bin)/uv venv --quiet --clear --python $(bin)/python .build/range
	@VIRTUAL_ENV=.build/range $(bin)/uv pip sync --quiet --require-hashes requirements-dev.txt
	@VIRTUAL_ENV=.build/range $(bin)/uv pip install --quiet --upgrade --resolution $(RESOLUTION) --no-build-isolation \
		--editable '.[hook]'
	@.build/range/bin/python -m pytest --numprocesses 2 -m 'not e2e' tests/core tests/hooks tests/commands tests/not_found

test-node: $(bin)/.complete  ## on a whole node, on which Pods run; as root on Linux, with Debian's packages (CONTRIBUTING.md)
	@$(bin)/python -m devcluster build
	@$(bin)/python -m pytest $(or $(PYTEST),tests/node)

lint: $(bin)/.complete  ## ruff, mypy, import-linter, hadolint
	@$(bin)/ruff check .
	@$(bin)/ruff format --check .
	@$(bin)/mypy
	@$(bin)/lint-imports --no-logo
	@$(bin)/hadolint Dockerfile

format: $(bin)/.complete  ## let ruff put the code in order
	@$(bin)/ruff check --fix .
	@$(bin)/ruff format .

docs: $(bin)/.complete  ## write the parts of the docs that are made from the code, and what the commands in them print
	@$(bin)/python -m tools.docs

docs-site: $(bin)/.complete  ## the docs as a site, in .build/site/html/
	@$(bin)/python -m tools.site

dist: $(bin)/.complete  ## the files of a release, in dist/; VERSION=… has to be that of the package, IMAGE=… is what they run
	@$(bin)/python -m tools.dist $(if $(VERSION),--version '$(VERSION)') $(if $(IMAGE),--image '$(IMAGE)')

cases: $(bin)/.complete  ## write what each case in tests/cases now becomes; show what changes
	@$(bin)/python -m tests.make_cases

lock: $(bin)/.complete  ## pin anew what the image holds, in requirements.txt, and what is installed here, in requirements-dev.txt
	@$(uv) compile --upgrade --generate-hashes --python-version 3.13 --python-platform linux \
		--custom-compile-command 'make lock' --output-file requirements.txt --extra hook setup.cfg
	@$(uv) compile --upgrade --generate-hashes --python-version 3.11 --universal \
		--custom-compile-command 'make lock' --output-file requirements-dev.txt --extra dev setup.cfg
