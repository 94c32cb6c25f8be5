#!/usr/bin/env bash
# Builds wheels that carry the program into DIST, one for each platform: all of them unless some are named.
# It needs Go and Python 3.11 with pip. The same commit gives the same bytes. BINARY is a program that is built already.
# usage: python/wheels.sh DIST [linux/amd64|linux/arm64|darwin/amd64|darwin/arm64|windows/amd64 …]
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
[ $# -gt 0 ] || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 64; }
mkdir -p "$1"
dist=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

cd "$(dirname "$0")"
version=$(sed -n 's/^VERSION = "\(.*\)"$/\1/p' graphcloak/program.py)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -q --disable-pip-version-check 'setuptools>=77'

for platform; do
	case $platform in # the program is static, and Go asks for macOS 12
	linux/amd64) tag=manylinux_2_17_x86_64.musllinux_1_1_x86_64 ;;
	linux/arm64) tag=manylinux_2_17_aarch64.musllinux_1_1_aarch64 ;;
	darwin/amd64) tag=macosx_12_0_x86_64 ;;
	darwin/arm64) tag=macosx_12_0_arm64 ;;
	windows/amd64) tag=win_amd64 ;;
	*) printf 'no platform %s\n' "$platform" >&2; exit 64 ;;
	esac
	tree=$scratch/$tag
	mkdir -p "$tree"
	cp -R graphcloak pyproject.toml setup.py README.md ../LICENSE "$tree"
	rm -rf "$tree"/graphcloak/__pycache__ "$tree"/graphcloak/bin
	mkdir "$tree/graphcloak/bin"
	if [ -n "${BINARY:-}" ]; then
		install -m 755 "$BINARY" "$tree/graphcloak/bin/"
	else
		CGO_ENABLED=0 GOOS=${platform%/*} GOARCH=${platform#*/} go build -trimpath \
			-ldflags "-s -w -X main.version=v$version -X main.builder=wheels.sh" -o "$tree/graphcloak/bin/" ../cmd/graphcloak
	fi
	(cd "$tree" && "$scratch/venv/bin/python" -W ignore setup.py -q bdist_wheel --plat-name "$tag" --dist-dir "$dist")
done
