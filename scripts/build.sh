#!/usr/bin/env bash
# Configures DIR once and builds in it: scripts/build.sh DIR [-DNAME=VALUE ...] [-- TARGET ...]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
dir=$root/$1
shift

options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  options+=("$1")
  shift
done
[ $# -eq 0 ] || shift

# A build folder that exists keeps its other options: tests stay on where test.sh was run before.
if [ ! -f "$dir/build.ninja" ]; then
  options+=(-G Ninja)
  if command -v ccache > /dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
fi
if [ ${#options[@]} -gt 0 ]; then
  cmake -S "$root" -B "$dir" -Wno-dev --log-level=WARNING "${options[@]}" > /dev/null
fi
# A terminal gets ninja's own progress line; a log gets only what went wrong.
if [ -t 1 ]; then ninja -C "$dir" "$@"; else ninja -C "$dir" --quiet "$@"; fi
