#!/usr/bin/env bash
# Objects built with AVX flags must not define shared (weak) symbols outside their own instruction set's namespace: the
# linker keeps one copy of an inline function, and an AVX-512 copy would crash the whole program on an older machine.
#   scripts/check_isa_symbols.sh BUILD_DIR
set -euo pipefail
dir=${1:?usage: check_isa_symbols.sh BUILD_DIR}
objects=$(find "$dir/kernels" -name '*_avx*.cc.o')
[ -n "$objects" ] || { echo "check_isa_symbols: no ISA objects under $dir/kernels" >&2; exit 2; }
bad=$(for object in $objects; do
  nm -C --defined-only "$object" | grep -E ' [WVu] ' | grep -vE 'avx2::|avx512::|avx512vnni::|DW.ref' |
    sed "s|^|$(basename "$object"): |" || true
done)
if [ -n "$bad" ]; then
  echo "$bad"
  exit 1
fi
echo "instruction sets: no shared symbol outside its namespace in $(wc -w <<< "$objects") objects"
