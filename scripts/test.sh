#!/usr/bin/env bash
# Builds everything and runs the tests; the last line says how many passed, failed and were skipped.
#   scripts/test.sh [--quick|--slow] [--build DIR] [-DNAME=VALUE ...]
#   --quick leaves out the tests named *Slow*, --slow runs only them; options after them go to CMake.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

filter='*'
dir=build
options=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) filter='-*Slow*' ;;
    --slow) filter='*Slow*' ;;
    --build) dir=${2:?--build needs a folder}; shift ;;
    -D*) options+=("$1") ;;
    *) echo "test: unknown option $1: expected --quick, --slow, --build DIR or -DNAME=VALUE" >&2; exit 2 ;;
  esac
  shift
done

scripts/install_dependencies.sh --tests
scripts/build.sh "$dir" -DFORERUN_TESTS=ON "${options[@]}"
results=$root/$dir/test-results
rm -rf "$results"
mkdir -p "$results"
GTEST_FILTER=$filter GTEST_OUTPUT="xml:$results/" \
  ctest --test-dir "$dir" -j2 --timeout 1500 --output-on-failure --output-junit "$results/ctest.xml" || true
python3 scripts/count_tests.py "$results"
