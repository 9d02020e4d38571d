#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Two coordinators of one run, as after a split, publish to one URI at the same time, again and again. The later one merges the
# rows that the other has published, so at the end all rows of both are there. More often: make two TIMES=100.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
check=$SATIN_BIN/../tests/e2e/delta-check
times=${1:-3}
trap 'stop_servers; leave' EXIT

found () { "$check" "$file" 2>&1; }

# race NAME FROM ROWS: each of the two saves ROWS rows four times. A base of FROM bytes or more has deltas.
race () {
  local name=$1 rows=$3 i good=0 a b united=0
  export FROM=$2
  for i in $(seq "$times"); do
    file=$uri/$name-$i.db
    "$check" "$file" 0 "$rows" 4 end >"$work/a" 2>&1 & a=$!
    "$check" "$file" 100000 "$rows" 4 end >"$work/b" 2>&1 & b=$!
    wait $a; wait $b
    [ "$(found)" = $((8 * rows)) ] && good=$((good + 1)) || { echo "# $i: $(found)"; sed 's/^/# /' "$work/a" "$work/b"; }
    # One coordinator's own rows are only half of them.
    grep -hq "^$((8 * rows)) " "$work/a" "$work/b" && united=$((united + 1))
  done
  is "$name: all rows of both are there, each time" "$good" "$times"
  is "$name: … since a coordinator has merged them" "$united" "$times"
}

has_told () { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE NUMBER: the coordinator has reported NUMBER publications
# One of the two is stopped. It continues after the other has taken its lock for that of a dead writer. Both end.
pause () { # NAME
  local a b so_far
  export FROM=100000
  file=$uri/$1-paused.db
  "$check" "$file" 0 3000 12 end >"$work/a" 2>&1 & a=$!
  "$check" "$file" 100000 50 10 end >"$work/b" 2>&1 & b=$!
  # Stopped only after its first publication: before that a coordinator may not have read the checkpoint.
  wait_for 60 has_told "$work/a" $((1 + RANDOM % 5))
  sleep 0.0$((RANDOM % 10)) # anywhere in the next one
  kill -STOP $a
  so_far=$(wc -l <"$work/b")
  ok "$1: the other coordinator publishes meanwhile" wait_for 60 has_told "$work/b" $((so_far < 8 ? so_far + 2 : 10))
  kill -CONT $a
  wait $a; wait $b
  is "$1: no row is lost when the stopped one continues" "$(found)" 36500
  [ "$(found)" = 36500 ] || sed 's/^/# /' "$work/a" "$work/b"
}

all () { race "$1" 1000000000 50; race "$1-deltas" 100000 800; pause "$1"; }

if start_sftp "$work/sftp"; then HOME=$work/sftp/home all sftp; else skip sftp "$why"; fi
if start_dav "$work/dav"; then all http; else skip http "$why"; fi
finish
