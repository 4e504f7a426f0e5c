# Exact versions of Python and Debian, but no digest, so that a rebuild gets the security fixes published under the same
# tag.
ARG BASE=python:3.13.15-slim-trixie


FROM ${BASE} AS build

# Without pip, so that none is copied below: the base image's pip installs into this environment from outside.
RUN python -m venv --without-pip /opt/venv

WORKDIR /src

# Dependencies have their own layer, so that a change to the hook doesn't reinstall them. The hashes ensure that they are
# the tested ones. Only wheels are allowed, because building a source distribution runs its code. Some packages include
# their own tests, 6 MB in total, which nothing imports.
COPY requirements.txt .
RUN pip --python /opt/venv/bin/python install --no-cache-dir --require-hashes --only-binary :all: -r requirements.txt \
 && find /opt/venv -depth -type d '(' -name tests -o -name testing ')' -exec rm -r '{}' +

# The programs and the library. .dockerignore excludes the commands for people.
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

# The hook installs nothing. Without pip, and ensurepip, which contains it, an intruder can't install anything either.
RUN pip uninstall --yes --root-user-action ignore pip \
 && rm -rf "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')/ensurepip"

# Owned by root and compiled, so the hook needs to write no file.
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/ingress-manager /opt/ingress-manager
ENV PATH=/opt/venv/bin:$PATH
# gunicorn imports hooks and not_found from here.
WORKDIR /opt/ingress-manager

# Set by `make image` and the release. They come last, so that the layers above stay cached.
ARG VERSION=""
ARG REVISION=""
ARG CREATED=""
LABEL org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.created="$CREATED"
ENV INGRESS_MANAGER_REVISION=$REVISION

# A number, because the kubelet can't tell whether a named user is root. It needs no entry in /etc/passwd.
USER 65532:65532

# For documentation; hooks/gunicorn_conf.py sets the port.
EXPOSE 8080

ENTRYPOINT ["gunicorn", "--config", "python:hooks.gunicorn_conf", "hooks.app:create_app()"]
