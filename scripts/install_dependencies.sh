#!/usr/bin/env bash
# Installs the Debian packages that are missing: scripts/install_dependencies.sh [--tests] [--ci]
# As root it installs them; otherwise it prints the line to run. With nothing missing it is silent and instant.
set -euo pipefail

packages=(g++ cmake ninja-build pkg-config python3
  libabsl-dev nlohmann-json3-dev libcli11-dev libpcre2-dev libutf8proc-dev libssl-dev libbenchmark-dev)
for argument in "$@"; do
  case $argument in
    --tests) packages+=(libgtest-dev libgmock-dev) ;;
    --ci) packages+=(libgtest-dev libgmock-dev clang-14 libclang-rt-14-dev clang-format) ;;
    *) echo "install_dependencies: unknown option $argument: expected --tests or --ci" >&2; exit 2 ;;
  esac
done
# Any pip will do, such as a virtual environment's.
python3 -m pip --version > /dev/null 2>&1 || packages+=(python3-pip)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
  echo "missing packages; run: sudo apt-get install -y ${missing[*]}" >&2
  exit 1
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } > "$log" 2>&1; then
  tail -n 5 "$log" >&2
  echo "install_dependencies: apt-get could not install: ${missing[*]}" >&2
  exit 1
fi
