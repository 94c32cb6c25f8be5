#!/usr/bin/env bash
# Runs a command with a Docker daemon of its own and the image neo4j:5.26-community, without a container registry:
#   docker.sh go test ./integration
# The image is built from the jars of neo4j.sh and keeps the part of the official image's contract that tests rely on.
# Needs root on Debian; installs docker.io where it lacks. Where no daemon starts, or $DOCKER_HOST names one already,
# the command runs as it is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=${NEO4J_VERSION:-5.26.30}
tag=neo4j:${version%.*}-community

without() { echo "no Docker daemon of its own: $1" >&2; shift; exec "$@"; }
[[ -z ${DOCKER_HOST:-} ]] || exec "$@"
[[ $(id -u) == 0 ]] || without "not root" "$@"
need=()
command -v dockerd >/dev/null && command -v docker >/dev/null || need+=(docker.io)
command -v iptables >/dev/null || need+=(iptables)
[[ -x /bin/busybox ]] || need+=(busybox-static)
[[ -x /usr/bin/tini ]] || need+=(tini)
jdk=$(ls -d /usr/lib/jvm/*17*/jmods 2>/dev/null | head -1 || true)
[[ -n $jdk ]] || need+=(openjdk-17-jdk-headless)
if ((${#need[@]})); then
  command -v apt-get >/dev/null || without "install ${need[*]}" "$@"
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${need[@]}"; } >&2 \
    || without "cannot install ${need[*]}" "$@"
fi

root=${XDG_CACHE_HOME:-$HOME/.cache}/graphcloak/docker
run=$(mktemp -d /tmp/graphcloak-docker.XXXXXX) # short: a socket's path has at most 107 bytes
mkdir -p "$root"
export DOCKER_HOST=unix://$run/docker.sock
dockerd --host="$DOCKER_HOST" --data-root="$root" --exec-root="$run/exec" --pidfile="$run/docker.pid" --ip=127.0.0.1 \
  >"$run/dockerd.log" 2>&1 </dev/null &
daemon=$!
stop() {
  trap - EXIT
  kill "$daemon" 2>/dev/null && wait "$daemon" || true
  rm -rf "$run"
}
trap stop EXIT
trap 'exit 130' INT TERM
for _ in $(seq 150); do
  docker version >/dev/null 2>&1 && break
  kill -0 "$daemon" 2>/dev/null || break
  sleep 0.2
done
if ! docker version >/dev/null 2>&1; then
  tail -3 "$run/dockerd.log" >&2
  stop
  unset DOCKER_HOST
  without "dockerd does not start" "$@"
fi

docker image inspect "$tag" >/dev/null 2>&1 || "$here/image.sh" "$tag"
export TESTCONTAINERS_RYUK_DISABLED=true      # its image is in a registry
export TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1 # a leftover /.dockerenv would make the library dial the bridge
"$@"
