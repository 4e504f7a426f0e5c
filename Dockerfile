# The exact version of Python and of Debian, but no digest: a rebuild gets the security fixes that are published under
# the same tag.
ARG BASE=python:3.13.15-slim-trixie


FROM ${BASE} AS build

# Without pip: the base image's pip installs into this environment from outside, so that no pip is copied below.
RUN python -m venv --without-pip /opt/venv

WORKDIR /src

# Dependencies have a layer apart from the hook, so that a change of the hook doesn't install them anew. The hashes make
# sure that they are the ones that were tested. Only wheels: a source distribution runs its own code when it is built.
# Some packages bring their own tests, 6 MB in all, which nothing imports.
COPY requirements.txt .
RUN pip --python /opt/venv/bin/python install --no-cache-dir --require-hashes --only-binary :all: -r requirements.txt \
 && find /opt/venv -depth -type d '(' -name tests -o -name testing ')' -exec rm -r '{}' +

# What the image runs, and the library without the commands for people, which .dockerignore leaves out.
WORKDIR /opt/ingress-manager
COPY ingress_manager ingress_manager
COPY hooks hooks
COPY not_found not_found
RUN python -m compileall -q .


FROM ${BASE}

LABEL org.opencontainers.image.title="ingress-manager" \
      org.opencontainers.image.description="Annotate a Service; get an Ingress that stays right." \
      org.opencontainers.image.source="https://github.com/ingress-manager/ingress-manager" \
      org.opencontainers.image.licenses="Apache-2.0"

# The hook installs nothing. An intruder shall not find a pip to install anything with, nor ensurepip, which brings one.
RUN pip uninstall --yes --root-user-action ignore pip \
 && rm -rf "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')/ensurepip"

# Owned by root and compiled: the hook has no file to write.
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/ingress-manager /opt/ingress-manager
ENV PATH=/opt/venv/bin:$PATH
# From here gunicorn imports hooks and not_found.
WORKDIR /opt/ingress-manager

# The build: `make image` and the release state them. They come last, so that no layer above is made again.
ARG VERSION=""
ARG REVISION=""
ARG CREATED=""
LABEL org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED"
ENV INGRESS_MANAGER_REVISION=$REVISION

# By number, because the kubelet can't tell whether a name is root's. It needs no entry in /etc/passwd.
USER 65532:65532

# Documentation; hooks/gunicorn_conf.py decides.
EXPOSE 8080

ENTRYPOINT ["gunicorn", "--config", "python:hooks.gunicorn_conf", "hooks.app:create_app()"]
