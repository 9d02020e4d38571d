#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs whose checkpoint stands at a store (T1-10), against real servers on loopback: each is skipped with its reason where
# it is not installed. What a user has on another machine after a total loss is the URI and a key to the store.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
trap 'stop_servers; leave' EXIT
choose_heavy 4
fast=("$SATIN_BIN/fib" 12) fast_answer=$(fibonacci 12)

stands () { "$satin" inspect --insecure "$1" >/dev/null 2>&1; }
holds () { "$satin" inspect --insecure --json "$1" 2>/dev/null | tr -d ' \n' | grep -q "\"results\":\\[{"; }
kill_all () { kill -9 "$begun" $(our_nodes) 2>/dev/null; wait "$begun" 2>/dev/null; wait_for 10 no_nodes; }
says () { printf '%s' "$words" | grep -q "$1"; }

# What every store has to do. NAME: the place at $uri, with $HOME as it has to be.
whole_life () {
  local name=$1 file=$uri/run.db
  begin "$satin" run -n 2 --interval 0.2 --insecure --checkpoint "$file" -- "${heavy[@]}"
  ok "$name: the checkpoint stands there soon" wait_for $((20 * slow)) stands "$file"
  try "$satin" run --insecure --checkpoint "$file" -- "${heavy[@]}"
  is "$name: another run is refused while this one lives" "$code" 5
  ok "$name: … by its name and host" says "in use by run"
  ok "$name: results come to it" wait_for $((30 * slow)) holds "$file"
  kill_all
  rm -rf "$XDG_STATE_HOME"
  try "$satin" resume --insecure "$file"
  is "$name: after a total loss it is taken over at once, by the URI alone" "$answer" "$heavy_answer"
  try "$satin" run --insecure --checkpoint "$file" -- "${heavy[@]}"
  is "$name: a finished checkpoint gives its answer again" "$answer" "$heavy_answer"
  try "$satin" run --insecure --new --checkpoint "$file" -- "${fast[@]}"
  is "$name: --new begins anew" "$answer" "$fast_answer"
  ok "$name: … and sets the old one aside" says "the old checkpoint is now"
  try "$satin" inspect --insecure --verify "$file"
  is "$name: every row proves itself" "$code" 0
  try "$satin" run --insecure --checkpoint "$uri/none/run.db" -- "${fast[@]}"
  is "$name: a folder that is not there is said at the start" "$code" 4
  no_rests "$name"
}

# Nothing but checkpoints is left where the server keeps its files.
no_rests () {
  # One that was killed may leave what it was sending.
  is "$1: nothing else is left at the store" "$(find "$files" -type f ! -name '*.db' ! -name '*.old-*' ! -name 'run.db*.tmp')" ""
}

# The server stands still for some seconds while the run goes on, and comes back.
stands_still () {
  local name=$1 file=$uri/still.db before
  begin "$satin" run -n 2 --interval 0.2 --insecure --checkpoint "$file" -- "${heavy[@]}"
  ok "$name: a run begins" wait_for $((20 * slow)) stands "$file"
  kill -STOP $(server_tree)
  sleep 2
  kill -CONT $(server_tree)
  ended
  is "$name: a store that stood still changes no answer" "$answer" "$heavy_answer"
  try "$satin" inspect --insecure "$file"
  ok "$name: … and has the end" grep -q finished "$work/answer"
}

# The server is gone when the run is suspended: what was done is kept here.
is_down () {
  local name=$1 file=$uri/down.db kept
  begin "$satin" run -n 2 --interval 0.2 --name down --insecure --checkpoint "$file" -- "${heavy[@]}"
  ok "$name: a run begins" wait_for $((20 * slow)) holds "$file"
  kill -KILL $(server_tree) 2>/dev/null
  ok "$name: that the store is down is said while the run goes on" wait_for $((20 * slow)) grep -q "^satin: checkpoint '.*down.db': " "$work/begun.words"
  try "$satin" suspend down
  ended
  is "$name: a suspension that cannot be published ends with 4" "$code" 4
  kept=$(printf '%s' "$words" | sed -n "s/.*is kept in '\\([^']*\\)'.*/\\1/p")
  ok "$name: … and says where it is kept" test -s "$kept"
  is "$name: … once" "$(grep -c 'is kept in' <<<"$words")" 1
  try "$satin" resume "$kept"
  is "$name: … from where it can go on" "$answer" "$heavy_answer"
}

server_tree () { echo "$server_pid"; pgrep -P "$server_pid"; pgrep -P "$server_pid" | xargs -r -n1 pgrep -P; }

if start_sftp "$work/sftp"; then
  home=$work/sftp/home files=$work/sftp/files
  HOME=$home whole_life sftp
  HOME=$home stands_still sftp
  mkdir -p "$work/empty"
  began=$SECONDS
  HOME=$work/empty try "$satin" run --checkpoint "$uri/x.db" -- "${fast[@]}"
  is "sftp: a host that nobody knows is said at the start" "$code" 4
  ok "sftp: … within ten seconds" [ $((SECONDS - began)) -le 10 ]
  HOME=$work/empty try "${fast[@]}" --checkpoint "${uri/@/:secret@}/x.db"
  is "a password in a URI is refused" "$code" 4
  ok "… and not said again" test "$(grep -c secret <<<"$words")" = 0
  kill -STOP $(server_tree)
  began=$SECONDS
  HOME=$home try "$satin" run --checkpoint "$uri/x.db" -- "${fast[@]}"
  is "sftp: a server that says nothing is given up at the start" "$code" 4
  ok "sftp: … within ten seconds" [ $((SECONDS - began)) -le 10 ]
  kill -CONT $(server_tree)
  HOME=$home is_down sftp
else skip sftp "$why"; fi

if start_ftp "$work/ftp"; then
  files=$work/ftp/root/files
  whole_life ftp
  try "$satin" run --checkpoint "$uri/x.db" -- "${fast[@]}"
  is "ftp: in clear only with --insecure" "$code" 4
else skip ftp "$why"; fi

if start_dav "$work/dav"; then
  files=$work/dav/root/files
  whole_life http
  stands_still http
  is_down http
else skip http "$why"; fi
finish
