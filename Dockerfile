# The checkout in /harness with the environment of `make env`:
#   docker build --tag harness .                       for an NVIDIA GPU, which the machine that builds need not have
#   docker build --tag harness --build-arg CUDA=12.9 . the same for a driver older than 580
#   docker build --tag harness --build-arg GPU=0 .     without one
FROM python:3.11-slim-bookworm
ARG GPU=1
ARG CUDA=13.0
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /harness
COPY . .
RUN make env GPU="$GPU" CUDA="$CUDA"
ENV PATH=/harness/.venv/bin:$PATH
CMD ["harness", "--help"]
