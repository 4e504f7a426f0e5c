# `make help` lists the targets; CONTRIBUTING.md describes the other programs. All output stays in this folder: .venv/
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
# Many tests only wait, so there are more processes than cores; with even more, a machine with two cores would be too slow
# for visitors. Coverage is measured where it must be complete: in the core and the code in the image. `make test-all` also
# measures the commands, which takes another minute.
COVERED ?= --cov=ingress_manager/core --cov=hooks --cov=not_found
all_tests = $(bin)/python -m pytest --engine=$(ENGINE) --numprocesses 3 --dist loadgroup $(COVERED) \
	--cov-report term $(THOROUGH)

# Otherwise, each of the hundreds of programs started by tests would recompile all of ingress-manager.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run demo cluster test test-all test-range test-node lint format docs docs-site dist cases lock image install uninstall

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Packages are locked with hashes, so that somebody else's release can't change a test's result.
$(bin)/.complete: setup.cfg pyproject.toml requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'Python 3.11 or later is needed; `make PYTHON=python3.13 …` names one.' >&2; exit 2; }
	@echo 'Installing the Python packages into .venv/ …' >&2
	@# Meanwhile, Go downloads the sources of the control plane if it will be built.
	@$(if $(KUBEBUILDER_ASSETS),,$(if $(filter demo cluster test,$(MAKECMDGOALS)),cd devcluster/controlplane && go list -deps tool >/dev/null 2>&1 &))
	@$(PYTHON) -m venv .venv
	@$(bin)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		"$$(sed -n 's/^\(uv==[0-9.]*\).*/\1/p' requirements-dev.txt)"
	@$(uv) sync --require-hashes requirements-dev.txt
	@$(uv) install --no-deps --no-build-isolation --editable .
	@touch $@

run: $(bin)/.complete  ## run only the hook, on 127.0.0.1:8080, or with PORT=… and SETTINGS=file.yaml
	@INGRESS_MANAGER_SETTINGS='$(SETTINGS)' exec $(bin)/gunicorn --config python:hooks.gunicorn_conf \
		--bind 127.0.0.1:$(PORT) 'hooks.app:create_app()'

build_args = $(foreach arg,VERSION=$(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' ingress_manager/__init__.py) \
	REVISION=$(shell git describe --always --dirty --abbrev=40 --exclude='*' 2>/dev/null) \
	CREATED=$(shell git log -1 --format=%cI 2>/dev/null),--build-arg=$(arg))

image:  ## build the image IMAGE=… with docker, podman or buildah, or BUILDER=…, which gets BUILD_OPTIONS=…
	$(or $(BUILDER),$(notdir $(firstword $(foreach each,docker podman buildah,$(shell command -v $(each)))))) build \
		--file=Dockerfile --tag='$(IMAGE)' $(build_args) $(BUILD_OPTIONS) .

install: $(bin)/.complete  ## install on the cluster of CONTEXT=… with the image IMAGE=… and hosts below DOMAIN=…; prints each command
	@exec $(bin)/python -m tools.install install --context '$(CONTEXT)' --crds '$(METACONTROLLER_CRDS)' --domain '$(DOMAIN)' $(if $(YES),--yes) -- '$(IMAGE)'

uninstall: $(bin)/.complete  ## remove it from the cluster of CONTEXT=…; YES=1 skips the confirmation, INGRESSES=remove also deletes the Ingresses
	@exec $(bin)/python -m tools.install uninstall --context '$(CONTEXT)' --ingresses '$(INGRESSES)' $(if $(YES),--yes)

demo: $(bin)/.complete  ## show the main features step by step on a real control plane; ENGINE=standin|metacontroller
	@exec $(bin)/python -m devcluster demo --engine $(ENGINE)

cluster: $(bin)/.complete  ## run a real control plane with ingress-manager to try it; Ctrl-C ends it
	@exec $(bin)/python -m devcluster up --engine $(ENGINE)

test: $(bin)/.complete  ## run the tests for a change, three minutes; ENGINE=standin|metacontroller; PYTEST=… runs all tests of a path
	@$(bin)/python -m devcluster build --if-possible
	@$(if $(PYTEST),$(bin)/python -m pytest --engine=$(ENGINE) --thorough $(PYTEST),$(all_tests))

test-all: $(bin)/.complete  ## run all tests but test-node, with more examples; first builds Helm
	@$(bin)/python -m devcluster build --helm --if-possible
	@$(MAKE) --no-print-directory test-range
	@$(MAKE) --no-print-directory test COVERED="--cov --cov-fail-under=99" THOROUGH='--thorough --durations 25'

# Part of `make test-all`: test with the lowest versions that setup.cfg allows, or with RESOLUTION=highest.
test-range: $(bin)/.complete
	@$(bin)/uv venv --quiet --clear --python $(bin)/python .build/range
	@VIRTUAL_ENV=.build/range $(bin)/uv pip sync --quiet --require-hashes requirements-dev.txt
	@VIRTUAL_ENV=.build/range $(bin)/uv pip install --quiet --upgrade --resolution $(RESOLUTION) --no-build-isolation \
		--editable '.[hook]'
	@.build/range/bin/python -m pytest --numprocesses 2 -m 'not e2e' tests/core tests/hooks tests/commands tests/not_found

test-node: $(bin)/.complete  ## test on a real node with Pods, as root on Linux, with Debian's packages (CONTRIBUTING.md)
	@$(bin)/python -m devcluster build
	@$(bin)/python -m pytest $(or $(PYTEST),tests/node)

lint: $(bin)/.complete  ## run ruff, mypy, import-linter and hadolint
	@$(bin)/ruff check .
	@$(bin)/ruff format --check .
	@$(bin)/mypy
	@$(bin)/lint-imports --no-logo
	@$(bin)/hadolint Dockerfile

format: $(bin)/.complete  ## fix and format the code with ruff
	@$(bin)/ruff check --fix .
	@$(bin)/ruff format .

docs: $(bin)/.complete  ## update the generated parts of the docs, and the output of commands in them
	@$(bin)/python -m tools.docs

docs-site: $(bin)/.complete  ## build the docs site in .build/site/html/
	@$(bin)/python -m tools.site

dist: $(bin)/.complete  ## build the files of a release in dist/, with the image IMAGE=…; VERSION=… must be that of the package
	@$(bin)/python -m tools.dist $(if $(VERSION),--version '$(VERSION)') $(if $(IMAGE),--image '$(IMAGE)')

cases: $(bin)/.complete  ## update the expected results of all cases, and print the diff
	@$(bin)/python -m tests.make_cases

lock: $(bin)/.complete  ## update the locked packages of the image, requirements.txt, and of developers, requirements-dev.txt
	@$(uv) compile --upgrade --generate-hashes --python-version 3.13 --python-platform linux \
		--custom-compile-command 'make lock' --output-file requirements.txt --extra hook setup.cfg
	@$(uv) compile --upgrade --generate-hashes --python-version 3.11 --universal \
		--custom-compile-command 'make lock' --output-file requirements-dev.txt --extra dev setup.cfg
