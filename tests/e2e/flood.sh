#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Strangers connect a thousand times a second to every socket of a run and keep hundreds of connections open. Members and
# commands are still served, also with few descriptors, and no node dies.
. "$(dirname "$0")/lib.sh"
flood=$SATIN_BIN/../tests/e2e/flood
choose_heavy
checkpoint=$work/c.satin floods=''
stop_floods () { [ -z "$floods" ] || kill $floods 2>/dev/null; floods=''; }
trap 'stop_floods; leave' EXIT

flood_all () # KIND: every socket of every node
{
  local address n=0
  rm -f "$work"/flood.*
  for address in $(grep -h . "$runs"/target/node-*.address); do
    n=$((n + 1))
    "$flood" "$address" 1000 60 512 "$1" >"$work/flood.$n" &
    floods="$floods $!"
  done
  wait_for 20 eval '[ "$(grep -ls begun "$work"/flood.* | wc -l)" -eq '"$n" ]
}

under () # WHAT KIND OPTION…: saves, adds and suspends under a flood
{
  local what=$1 kind=$2
  shift 2
  rm -f "$checkpoint"
  begin "$satin" run -n 2 -w 1 --name target --checkpoint "$checkpoint" "$@" -- "${heavy[@]}"
  ok "$what: two nodes are up" wait_for $((20 * slow)) up target 2
  ok "$what: the flood has begun" flood_all "$kind"
  try "$satin" save target
  is "$what: save" "$code" 0
  try "$satin" add target -n 1
  is "$what: add" "$code:$words" 0:
  ok "$what: three nodes are up" wait_for $((20 * slow)) up target 3
  try "$satin" suspend --within 0 target
  is "$what: suspend" "$code" 0
  stop_floods
  ended
  is "$what: the run is suspended" "$code" 75
  ok "$what: no node died" eval '! grep -q "satin: node" <<<"$words"'
}

under "who says nothing" silent
under "silence, by TCP" silent --tcp
under "garbage" garbage
under "half a handshake, by TCP" hello --tcp
under "a byte at a time, by TCP" slow --tcp
limit=$(ulimit -S -n)
ulimit -S -n 128
under "few descriptors" silent
under "few descriptors, by TCP" silent --tcp
ulimit -S -n "$limit"
begin "$satin" run -n 2 --tcp --name target -- "${heavy[@]}"
ok "two nodes are up" wait_for $((20 * slow)) up target 2
flood_all garbage
finished
is "the answer is right" "$code:$answer:$words" "0:$heavy_answer:"
finish
