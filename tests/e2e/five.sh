#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs every line of every apps/NAME/NAME.expect in five ways: alone; on 4 nodes; with a node killed; with master and
# coordinator killed; all killed and resumed on another number of nodes. The answer is the same each time. In `make check` each
# marked line runs in one of these ways, in turn.
#
#   ARGUMENTS => ANSWER     ANSWER is the first printed line; exit code 0: the program's own check succeeded
#   ARGUMENTS => =          the answer is what the program prints alone
#   * ARGUMENTS => ANSWER   a line that `make check` runs, too: it takes a second or two, long enough for a kill
#   + ARGUMENTS => ANSWER   a line that `make check-long` runs, too: a longer one
#
# A word that names a file beside the .expect file stands for that file. data:PATH is a file below $SATIN_DATA; without that
# file the line is skipped. Usage: five.sh [all [NAME…]]: every line, of these programs.
. "$(dirname "$0")/lib.sh"
all=${1-}
[ $# -gt 0 ] && shift
chosen=" $* "

answered () # NAME WANTED
{
  is "$1" "$(head -n 1 <<<"$answer") $code" "$2 0"
}

another_master () { local now; now=$(master_of "$1"); [ -n "$now" ] && [ "$now" != "$2" ]; }
coordinator_of () { nodes_of "$1" | awk '/"coordinator"/ { print $1; exit }'; }
begun_is_over () { gone "$begun"; }

# RUN N: TRUE if N nodes of RUN are up or the command has ended.
ready () { up "$1" "$2" || begun_is_over; }

# Counts kills of a live run, and kills that came after its end.
harmed=0 unharmed=0
harm () # PID…
{
  if begun_is_over || [ -z "$*" ]; then
    unharmed=$((unharmed + 1))
    return 1
  fi
  # shellcheck disable=SC2086
  kill -9 $* 2>/dev/null
  harmed=$((harmed + 1))
}

# Each way gets NAME, RUN, ANSWER and COMMAND, and may use $file.
on_nodes ()
{
  local name=$1 wanted=$3
  shift 3
  try "$satin" run -n 4 -w 1 -- "$@"
  answered "$name: on 4 nodes" "$wanted"
}

node_killed ()
{
  local name=$1 run=$2 wanted=$3
  shift 3
  begin "$satin" run -n 3 -w 1 --name "$run" -- "$@"
  wait_for $((20 * slow)) ready "$run" 3
  harm "$(other_of "$run")"
  ended
  answered "$name: with a node killed" "$wanted"
}

roles_killed ()
{
  local name=$1 run=$2 wanted=$3 first
  shift 3
  begin "$satin" run -n 4 -w 1 --name "$run" --checkpoint "$file" --interval 0.2 -- "$@"
  wait_for $((20 * slow)) ready "$run" 4
  first=$(master_of "$run")
  if harm "$first"; then
    wait_for $((20 * slow)) eval 'another_master "$run" "$first" || begun_is_over'
    harm "$(coordinator_of "$run")"
  fi
  ended
  answered "$name: with master and coordinator killed" "$wanted"
}

all_killed ()
{
  local name=$1 run=$2 wanted=$3
  shift 3
  begin "$satin" run -n 4 -w 1 --name "$run" --checkpoint "$file" --interval 0.2 -- "$@"
  wait_for $((20 * slow)) eval 'has_rows "$file" || begun_is_over'
  harm "$(our_nodes)"
  ended
  if [ "$code" != 0 ]; then
    if [ -e "$file" ]; then
      try "$satin" resume "$file" -n 2 -w 1
    else # killed before anything was published
      try "$satin" run -n 2 -w 1 --checkpoint "$file" -- "$@"
    fi
  fi
  answered "$name: killed whole and resumed on 2 nodes" "$wanted"
}

alone ()
{
  local name=$1 wanted=$3
  shift 3
  try "$@"
  answered "$name: alone" "$wanted"
}

ways=(alone on_nodes node_killed roles_killed all_killed)

five_ways () # NAME NUMBER ANSWER COMMAND…
{
  local name=$1 number=$2 wanted=$3 file=$work/$2.satin way
  shift 3
  if [ "$wanted" = = ]; then
    try "$@"
    wanted=$(head -n 1 <<<"$answer")
  fi
  for way in "${!ways[@]}"; do
    [ "$all" = all ] || is_long || [ $((number % ${#ways[@]})) -eq "$way" ] || continue
    "${ways[way]}" "$name" "five-$number-$way" "$wanted" "$@"
    rm -rf "$file"* "${runs:?}"/*
  done
}

lines=0
for list in "$SATIN_SOURCE"/apps/*/*.expect; do
  folder=${list%/*} app=${folder##*/}
  [ "$chosen" = "  " ] || [[ $chosen == *" $app "* ]] || continue
  ok "$app is built" [ -x "$SATIN_BIN/$app" ]
  while IFS= read -r line; do
    [[ $line =~ ^[[:space:]]*(#|$) ]] && continue
    [ "$all" = all ] || [[ $line == '* '* ]] || { is_long && [[ $line == '+ '* ]]; } || continue
    line=${line#[*+] }
    read -ra words_of_line <<<"${line%%=>*}"
    wanted=${line#*=> }
    command=("$SATIN_BIN/$app") missing=
    for word in ${words_of_line[@]+"${words_of_line[@]}"}; do
      case $word in
        data:*)
          word=${SATIN_DATA-}/${word#data:}
          [ -e "$word" ] || missing=$word
          ;;
        *) [ -e "$folder/$word" ] && word=$folder/$word ;;
      esac
      command+=("$word")
    done
    lines=$((lines + 1))
    if [ -n "$missing" ]; then
      skip "$app ${words_of_line[*]-}" "SATIN_DATA has no such file"
    else
      five_ways "$app ${words_of_line[*]-}" $lines "$wanted" "${command[@]}"
    fi
  done <"$list"
done
echo "# $lines lines; $harmed kills of a live run, $unharmed came too late"
ok "there are lines" [ $lines -gt 0 ]
finish
