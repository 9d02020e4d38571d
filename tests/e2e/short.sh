#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Reads and writes fall short or are interrupted (short-io.c): runs work as usual.
. "$(dirname "$0")/lib.sh"
export TMPDIR=$work/tmp
mkdir "$TMPDIR" "$work/far"

cc=${CC:-cc}
if ! $cc -shared -fPIC -O1 -o "$work/short-io.so" "$SATIN_SOURCE/tests/e2e/short-io.c" -ldl 2>"$work/words" \
    || [ -n "${SATIN_SANITIZED-}" ]; then
  skip "reads and writes fall short" "no way to make reads and writes fall short"
  finish
fi
counts=$work/counts
head -c 96 /dev/zero >"$counts"
shim="LD_PRELOAD=$work/short-io.so SHORT_IO_UNDER=$(realpath "$SATIN_BIN/..")/ SHORT_IO_SEED=$seed SHORT_IO_COUNTS=$counts"

pids=()
# Other test scripts, in parallel: they wait most of the time.
for name in run total suspend kill; do
  # shellcheck disable=SC2086
  env $shim bash "$SATIN_SOURCE/tests/e2e/$name.sh" >"$work/$name.out" 2>&1 &
  pids[${#pids[@]}]=$!
done

# Pipes to a node of another host, and an answer that `satin wait` gets in pieces.
far_nodes () { grep -lsF "TMPDIR=$work/far" /proc/[0-9]*/environ | sed 's,/proc/,,; s,/environ,,'; }
# shellcheck disable=SC2046
trap 'kill -9 $(far_nodes) 2>/dev/null; leave' EXIT
print=("$SATIN_BIN/../tests/e2e/print" 20)
wanted=$("${print[@]}" | cksum)
printf '[site there]\nhosts = a b\nworkers = 1\ncommand = %s %s sh -c\n' "$(bare "$work/far")" "$shim" >"$work/sites"
# shellcheck disable=SC2086
env $shim "$satin" run --sites "$work/sites" -- "${print[@]}" >"$work/large" 2>"$work/words" </dev/null
is "far nodes: the answer is whole" "$?:$(cksum <"$work/large"):$(cat "$work/words")" "0:$wanted:"
# shellcheck disable=SC2086
begin env $shim "$satin" run --sites "$work/sites" --name orphan -- "${print[@]}" "$work/gate"
ok "two far nodes are up" wait_for 30 up orphan 2
kill -9 "$begun"
wait "$begun" 2>/dev/null
: >"$work/gate"
# shellcheck disable=SC2086
env $shim "$satin" wait orphan >"$work/large" 2>"$work/words" </dev/null
is "launcher dead: satin wait shows it whole" "$?:$(cksum <"$work/large"):$(cat "$work/words")" "0:$wanted:"

# shellcheck disable=SC2086
try env $shim "$SATIN_BIN/fib" 22 --workers 2 --checkpoint "$work/alone.satin"
is "a program alone" "$code:$answer" "0:17711"
try "$satin" resume "$work/alone.satin"
is "its checkpoint is whole" "$code:$answer:$words" "0:17711:"

# A broken connection is made again, so a run would hide an error. A test of one connection shows it.
program=$SATIN_BIN/../tests/unit/test-wire
if [ -x "$program" ]; then
  for kind in unix-socket tcp; do
    # shellcheck disable=SC2086
    try timeout 20 env $shim "$program" -p "/wire/messages-arrive-whole-by-$kind"
    is "one connection by $kind" "$code" 0
  done
else
  skip "one connection" "test-wire is not built: \`make check\` builds it"
fi

show () { sed 's/^/# /' "$1"; return 1; }
i=0
for script in run total suspend kill; do
  wait "${pids[$i]}"
  code=$?
  ok "$script.sh" eval '[ "$code" -eq 0 ] || show "$work/$script.out"'
  i=$((i + 1))
done

ok "calls of all twelve kinds were affected" eval '[ "$(od -A n -v -t u8 -w8 "$counts" | grep -cvx " *0")" = 12 ]'
finish
