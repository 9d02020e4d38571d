#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A disk that is really full: a tmpfs of a few hundred KiB, in a mount namespace of this test's own.
if [ -z "${SATIN_TEST_SPACE-}" ]; then
  if ! unshare -rm true 2>/dev/null; then
    echo "1..0 # SKIP no mount namespace can be made here"
    exit 0
  fi
  SATIN_TEST_SPACE=1 exec unshare -rm bash "$0"
fi
. "$(dirname "$0")/lib.sh"
disk=$work/disk
mkdir "$disk"
if ! mount -t tmpfs -o size=400k tmpfs "$disk" 2>/dev/null; then
  echo "1..0 # SKIP no tmpfs can be mounted here"
  exit 0
fi
choose_heavy
naps=("$SATIN_BIN/sleep" 20 --depth 8)
fill () { dd if=/dev/zero of="$disk/filler" bs=4k 2>/dev/null; }
half_made () { find "$disk" -type f ! -name filler | wc -l; }
none_half_made () { [ "$(half_made)" -eq 0 ]; }
warned () { grep -q "cannot write checkpoint .*[Nn]o space\|cannot write checkpoint .*full" "$work/begun.words"; }

file=$disk/later.satin
fill
begin "${heavy[@]}" --workers 2 --checkpoint "$file" --interval 0.1
ok "a full disk is reported" wait_for $((20 * slow)) warned
# Publishing is retried again and again, so an unfinished file may exist for a moment.
ok "no unfinished file stays there" wait_for $((5 * slow)) none_half_made
rm "$disk/filler"
ok "when there is room it is written" wait_for $((20 * slow)) has_rows "$file" 1
ok "and whole" integrity "$file"
finished
is "the answer" "$answer" "$heavy_answer"
is "the exit code" "$code" 0
is "it was reported once" "$(grep -c 'cannot write checkpoint' <<<"$words")" 1
try "$satin" inspect --verify "$file"
is "the file is sound at the end" "$code" 0
is "and has the answer" "$(sqlite3 "$file" "SELECT value FROM run WHERE key = 'exit'")" 0
rm "$file"

# A disk that is full until the end of the run.
fill
file=$disk/never.satin
try "${naps[@]}" --workers 2 --checkpoint "$file" --interval 0.1
is "a disk that stays full costs no answer" "$answer" "leaves 256"
ok "it is reported" grep -q 'cannot write checkpoint' <<<"$words"
is "no unfinished file is left" "$(half_made)" 0

# A complete file is not changed by a disk that fills up later.
rm "$disk/filler"
file=$disk/kept.satin
begin "${naps[@]}" --workers 2 --checkpoint "$file" --interval 0.1
ok "rows are in the file" wait_for $((20 * slow)) has_rows "$file" 1
fill
wait_for $((10 * slow)) warned
kill -9 "$begun"
ended
ok "what was published before the disk was full is whole" integrity "$file"
rm "$disk/filler"
try "${naps[@]}" --workers 2 --checkpoint "$file" --interval 0.1
is "and a run continues it to the answer" "$answer" "leaves 256"

# The run's folder is on the full disk: there is no room for the answer.
rm "$disk"/*
runs=$disk/satin/runs
begin env XDG_STATE_HOME="$disk" "$satin" run -n 2 --checkpoint "$work/answer.satin" -- "${heavy[@]}"
two_live () { [ "$(find "$runs" -name 'node-*.address' 2>/dev/null | wc -l)" -eq 2 ]; }
ok "a run whose folder is on a small disk" wait_for $((20 * slow)) two_live
fill
finished
is "an answer for which there is no room: exit code" "$code" 1
is "… the answer is empty" "$answer" ''
ok "… and a node's log says why" grep -q 'the answer is lost: cannot write' "$runs"/*/node-*.log
rm -rf "$disk"/*
try_freed "$satin" run -n 2 --checkpoint "$work/answer.satin" -- "${heavy[@]}"
is "… the same command with room gives it" "$answer" "$heavy_answer"
cd / && umount -l "$disk"
finish
