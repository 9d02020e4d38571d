#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# kill -9 of one node, of the master, or of everything, at random moments, TIMES times: the answer is right each time. Not part
# of `make check`: it takes minutes. SEED=N repeats the random choices, though not at the same moments.
. "$(dirname "$0")/lib.sh"
times=${1:-100}
echo "# $times times"
choose_busy
echo "# ${heavy[*]}"

# Waits for the run and sets $answer and $code; starts it again as often as needed, at most five times.
go_on ()
{
  local file=$1 tries=0
  ended
  while [ "$code" -ne 0 ] && [ $tries -lt 5 ]; do
    tries=$((tries + 1))
    [ -e "$file" ] && ! integrity "$file" && echo "# $file is broken" && return
    # If the run was killed before its first publication there is no checkpoint; the same command starts from the beginning.
    try "$satin" run -n $((RANDOM % 4 + 1)) --checkpoint "$file" --interval 0.3 -- "${heavy[@]}"
  done
}

for ((i = 1; i <= times; i++)); do
  name=h$i file=$work/h$i.satin
  kinds=(one master all one-then-master master-twice)
  kind=${kinds[RANDOM % 5]}
  nodes=$((RANDOM % 4 + 2))
  way=()
  [ $((RANDOM % 3)) = 0 ] && way=(--tcp)
  begin "$satin" run -n $nodes --name $name --checkpoint "$file" --interval 0.3 "${way[@]}" -- \
    "${heavy[@]}"
  # One time in four the nodes may still be joining.
  [ $((RANDOM % 4)) = 0 ] || wait_for $((10 * slow)) up $name $nodes
  sleep "$((RANDOM % 3)).$((RANDOM % 10))$((RANDOM % 10))"
  case $kind in
    one) victims=$(other_of $name) ;;
    master) victims=$(master_of $name) ;;
    all) victims=$(our_nodes) ;;
    one-then-master) victims="$(other_of $name) $(master_of $name)" ;;
    master-twice)
      victims=$(master_of $name)
      # shellcheck disable=SC2086
      kill -9 $victims 2>/dev/null
      sleep 0.$((RANDOM % 10))
      victims=$(master_of $name)
      ;;
  esac
  # shellcheck disable=SC2086
  kill -9 $victims 2>/dev/null
  go_on "$file"
  is "$i: $kind of $nodes ${way[*]-}" "$answer $code" "$heavy_answer 0"
  if [ -e "$file" ]; then
    ok "$i: the file is sound" integrity "$file"
  fi
  rm -rf "$file" "${runs:?}"/*
done
finish
