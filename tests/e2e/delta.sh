#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Large checkpoints at a store: a base and a delta beside it (storage/README), by real servers on loopback, each skipped
# with its reason where it is not installed. Half a megabyte stands for large. Deaths on the way: deaths.sh.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
check=$SATIN_BIN/../tests/e2e/delta-check
trap 'stop_servers; leave' EXIT
export FROM=500000
base=10000 # rows, which take about 1.1 MB

# Rows that stand at $file for every reader; rows, bytes and generation that the last line of the coordinator told.
found () { "$check" "$file" 2>&1; }
told () { tail -n 1 "$work/answer" | cut -d' ' -f1; }
sent () { tail -n 1 "$work/answer" | cut -d' ' -f2; }
generation () { tail -n 1 "$work/answer" | cut -d' ' -f3; }
stored () { find "$files" -name "$(basename "$file")$1" | wc -l; }

grows () { # NAME
  local whole bid times
  file=$uri/grows.db
  try "$check" "$file" 0 "$base" 1
  is "$1: a base is published" "$(found)" "$base"
  whole=$(sent) times=$(generation)
  ok "$1: … and its bytes are sent" [ "$whole" -gt "$FROM" ]
  # S17: the published Satin timed the making of a file of one KiB.
  bid=$("$check" --bid "$file")
  ok "$1: … and a bid is a commit as large as that" [ "$bid" -gt $((whole * 8 / 10)) -a "$bid" -le "$whole" ]
  try "$check" "$file" "$base" $((base / 100)) 1
  is "$1: 1 % more rows" "$(found)" $((base + base / 100))
  # The trial of a place is 512 bytes; the empty tables of a delta count much beside a megabyte.
  times=$(($(generation) - times)) # twice where the machine is so busy that what stood there is published before them
  echo "# $1: 1 % new rows: $(sent) of $whole bytes, in $times publications"
  ok "$1: … are sent by themselves" [ "$(sent)" -lt $((times * whole / 6)) ]
  try "$satin" inspect --insecure --json "$file"
  is "$1: satin inspect reads both" "$(tr -d ' \n' <"$work/answer" | grep -o '"path":"/[0-9]*/' | wc -l)" $((base + base / 100))
  try "$satin" inspect --insecure "$file-delta"
  is "$1: … and refuses the delta alone" "$code" 3
  is "$1: … which is not its own base" "$(grep -c "which was '.*-delta'" <<<"$words")" 0
  is "$1: two files stand there" "$(stored '*')" 2
  try "$check" "$file" $((base * 2)) 10 3 end
  is "$1: with the last publication all stand there" "$(found)" $((base + base / 100 + 30))
  is "$1: … in one file" "$(stored '*')" 1
}

if start_sftp "$work/sftp"; then files=$work/sftp/files; HOME=$work/sftp/home grows sftp; else skip sftp "$why"; fi
if start_ftp "$work/ftp"; then files=$work/ftp/root/files; grows ftp; else skip ftp "$why"; fi
if start_dav "$work/dav"; then files=$work/dav/root/files; grows http; else skip http "$why"; fi
if start_s3 "$work/s3"; then files=$work/s3/data/satin; grows s3; else skip s3 "$why"; fi
finish
