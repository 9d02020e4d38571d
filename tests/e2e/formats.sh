#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Checkpoints written by earlier builds, one pair for each format (formats/README): they are sound, and a resume uses their
# results and gives the same answer as a run from the start.
. "$(dirname "$0")/lib.sh"
if ! command -v gzip >/dev/null 2>&1; then
  echo "1..0 # SKIP there is no gzip"
  exit 0
fi
stored=$SATIN_SOURCE/tests/e2e/formats
cd "$work" || exit 1
figure () { tr -d ' \n' <"$work/stats" | sed -n "s/.*\"$1\":\\([0-9.]*\\).*/\\1/p"; }
more_than_none () { [ "${1:-0}" -gt 0 ]; }

all_kept () # the table of results is not empty, and no row is damaged or missing
{
  awk '$1 == "result" && $2 > 0 { kept = 1 } $3 + $4 > 0 { lost = 1 } END { exit !kept || lost }' <<<"$answer"
}

is_sound () # FILE
{
  local file=$1
  gzip -dc "$stored/$file.gz" >"$work/$file" || { ok "$file is stored" false; return; }
  try "$satin" inspect --verify "$file"
  is "$file is sound" "$code" 0
  cp "$file" damaged
  dd if=/dev/zero of=damaged bs=1 seek=100 count=400 conv=notrunc 2>/dev/null # overwrites its schema
  try "$satin" inspect --verify damaged
  ok "… its rows are found without its schema" all_kept
}

resumes () # FILE ANSWER PROGRAM ARG…
{
  local file=$1 wanted=$2
  shift 2
  try "$satin" resume "$file"
  is "$file was made by another user: nothing is started" "$code:$answer" 3:
  try "$satin" resume "$file" --mended -- "$@"
  is "… and its results are not used" "$code:$answer" 3:
  # This build differs from the one that wrote the file, so --mended is needed.
  try "$satin" resume "$file" --mended --trust -n 2 -w 1 --stats "$work/stats" -- "$@"
  is "$file is resumed" "$code" 0
  is "… its answer" "$(head -n 1 <<<"$answer")" "$wanted"
  ok "… what it held was used" more_than_none "$(figure jobs_reused)"
}

format=$(sed -n 's/^#define SCHEMA_VERSION \([0-9]*\)$/\1/p' "$SATIN_SOURCE/storage/schema.h")
ok "there is a format" more_than_none "$format"
for ((f = 1; f <= format; f++)); do
  # -tsp has results, an input and a constant; -phases has results and kept states. A short check resumes one of them.
  is_sound $f-tsp.satin
  is_sound $f-phases.satin
  if is_long || [ $((f % 2)) -eq 1 ]; then resumes $f-tsp.satin "length 6789" "$SATIN_BIN/tsp" random70.tsp; fi
  if is_long || [ $((f % 2)) -eq 0 ]; then
    resumes $f-phases.satin 30e25ab320d140d6 "$SATIN_BIN/../tests/e2e/phases" 8 400 200000
  fi
done
finish
