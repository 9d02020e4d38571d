#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Bad input of every kind: one sentence that says what and where, the right exit code, nothing left behind.
. "$(dirname "$0")/lib.sh"

bad () # NAME CODE COMMAND…
{
  local name=$1 wanted=$2
  shift 2
  try "$@"
  is "$name: exit code" "$code" "$wanted"
  ok "$name: one sentence" [ "$(wc -l <<<"$words")" = 1 -a -n "$words" ]
  is "$name: nothing on stdout" "$answer" ""
}

fib=$SATIN_BIN/fib
bad "no nodes" 2 "$satin" run -n 0 -- "$fib" 5
bad "nodes that are no number" 2 "$satin" run -n x -- "$fib" 5
bad "half a number" 2 "$satin" run -n 2x -- "$fib" 5
bad "no workers" 2 "$satin" run -w 0 -- "$fib" 5
bad "an unknown option" 2 "$satin" run --frobnicate -- "$fib" 5
bad "no program" 2 "$satin" run -n 2
bad "an interval of nothing" 2 "$satin" run --interval 0 -- "$fib" 5
bad "a name that is a path" 2 "$satin" run --name ../x -- "$fib" 5
bad "no verb" 2 "$satin"
bad "an unknown verb" 2 "$satin" frobnicate
bad "a program that is not there" 1 "$satin" run -- "$work/absent"
bad "a program that is a folder" 1 "$satin" run -- "$work"
echo hello >"$work/plain"
bad "a program that is a plain file" 1 "$satin" run -- "$work/plain"
bad "a program that is not a Satin program" 1 "$satin" run -n 3 -- /bin/true
bad "one that fails" 1 "$satin" run -n 3 -- /bin/false
bad "a checkpoint in no folder" 4 "$satin" run --checkpoint "$work/no/such/file" -- "$fib" 5
bad "a checkpoint below a file" 4 "$satin" run --checkpoint "$work/plain/file" -- "$fib" 5
bad "solo: a checkpoint in no folder" 4 "$fib" 5 --checkpoint "$work/no/such/file"
bad "a run that is not there" 1 "$satin" suspend nobody
bad "the status of nobody" 1 "$satin" status nobody
bad "a checkpoint that is not there" 4 "$satin" resume "$work/absent.satin"

# Instance files.
: >"$work/empty.tsp"
head -c 5000 /dev/urandom >"$work/binary.tsp"
mkdir "$work/folder.tsp"
printf 'NAME: x\nTYPE: TSP\nDIMENSION: 5\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 0 1\n' >"$work/cut.tsp"
for kind in absent empty binary folder cut; do
  bad "tsp: $kind instance" 1 "$SATIN_BIN/tsp" "$work/$kind.tsp"
done
bad "tsp on nodes: empty instance" 1 "$satin" run -n 2 -- "$SATIN_BIN/tsp" "$work/empty.tsp"
bad "tsp on nodes: absent instance, with a checkpoint" 1 \
  "$satin" run -n 2 --checkpoint "$work/tsp.satin" -- "$SATIN_BIN/tsp" "$work/absent.tsp"
finish
