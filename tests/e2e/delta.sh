#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Large checkpoints at a store: a base and a delta beside it (storage/README), with real servers on loopback. A store whose
# server is not installed is skipped with the reason. Half a megabyte counts as large. Deaths during a publication: deaths.sh.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers.sh"
check=$SATIN_BIN/../tests/e2e/delta-check
trap 'stop_servers; leave' EXIT
export FROM=500000
base=10000 # rows, which take about 1.1 MB

# found: the rows that a reader finds at $file. told, sent, generation: rows, bytes and generation in the last line that the
# coordinator printed.
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
  # S17: the published Satin timed the creation of a file of 1 KiB instead.
  bid=$("$check" --bid "$file")
  ok "$1: … and a bid is a commit as large as that" [ "$bid" -gt $((whole * 8 / 10)) -a "$bid" -le "$whole" ]
  try "$check" "$file" "$base" $((base / 100)) 1
  is "$1: 1 % more rows" "$(found)" $((base + base / 100))
  # The trial file is 512 bytes. Beside a megabyte, the empty tables of a delta count.
  times=$(($(generation) - times)) # 2 on a busy machine, where the old rows are published before the new ones
  echo "# $1: 1 % new rows: $(sent) of $whole bytes, in $times publications"
  ok "$1: … are sent without the other rows" [ "$(sent)" -lt $((times * whole / 6)) ]
  try "$satin" inspect --insecure --json "$file"
  is "$1: satin inspect reads both" "$(tr -d ' \n' <"$work/answer" | grep -o '"path":"/[0-9]*/' | wc -l)" $((base + base / 100))
  try "$satin" inspect --insecure "$file-delta"
  is "$1: … and refuses the delta alone" "$code" 3
  is "$1: … and does not take it for its own base" "$(grep -c "which was '.*-delta'" <<<"$words")" 0
  is "$1: two files stand there" "$(stored '*')" 2
  try "$check" "$file" $((base * 2)) 10 3 end
  is "$1: after the last publication all rows are there" "$(found)" $((base + base / 100 + 30))
  is "$1: … in one file" "$(stored '*')" 1
}

if start_sftp "$work/sftp"; then files=$work/sftp/files; HOME=$work/sftp/home grows sftp; else skip sftp "$why"; fi
if start_ftp "$work/ftp"; then files=$work/ftp/root/files; grows ftp; else skip ftp "$why"; fi
if start_dav "$work/dav"; then files=$work/dav/root/files; grows http; else skip http "$why"; fi
if start_s3 "$work/s3"; then files=$work/s3/data/satin; grows s3; else skip s3 "$why"; fi
finish
