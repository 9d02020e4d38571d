#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# make paper: prints the statements of the five papers, the tests that show them, and their results. Runs in the build folder;
# $1 is the list. Exit code 1: a test fails, does not exist, or does not cite its statement.
set -u
list=${1:?usage: paper.sh LIST}
source=${SATIN_SOURCE:?the source folder}
limit=${TEST_LIMIT_S:-900}
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
declare -A known=() # the results of tests that have run already
bad=0 shown=0 open=0 none=0

# Prints the result of one test.
unit () # NUMBER PROGRAM PATH
{
  local program=tests/$2
  [ -x "$program" ] || { echo "no such program"; return; }
  "$program" -l 2>/dev/null | grep -qxF -- "$3" || { echo "no such test"; return; }
  grep -qw -- "$1" "$source/$program.c" || { echo "does not cite $1"; return; }
  timeout "$limit" "$program" -p "$3" >"$log" 2>&1 && echo ok || echo FAILED
}

program () # NUMBER PROGRAM
{
  local file=${2#sim/sim-}
  [ -x "tests/$2" ] || { echo "no such program"; return; }
  grep -qw -- "$1" "$source/tests/sim/$file.c" || { echo "does not cite $1"; return; }
  timeout "$limit" "tests/$2" >"$log" 2>&1 && echo ok || echo FAILED
}

simulator () # ARGUMENT…
{
  [ -x tests/sim/sim ] || { echo "no such program"; return; }
  timeout "$limit" tests/sim/sim "$@" >"$log" 2>&1 && echo ok || echo FAILED
}

result_of () # NUMBER TEST
{
  # shellcheck disable=SC2086 # words
  set -- "$1" $2
  case $2 in
    unit/*) unit "$1" "$2" "${3-}" ;;
    sim/*) program "$1" "$2" ;;
    sim) shift 2 && simulator "$@" ;;
    *) echo "not understood" ;;
  esac
}

trim () { local text=${1#"${1%%[![:space:]]*}"}; printf '%s' "${text%"${text##*[![:space:]]}"}"; }

while IFS='|' read -r number sentence tests; do
  number=$(trim "$number") tests=$(trim "${tests-}")
  case $number in '' | '#'*) continue ;; esac
  printf '%-6s %s\n' "$number" "$(trim "${sentence-}")"
  case $tests in
    open:*) printf '       %s\n' "$tests" && open=$((open + 1)) && continue ;;
    none:*) printf '       %s\n' "$tests" && none=$((none + 1)) && continue ;;
    '') echo "       nothing shows it" && bad=$((bad + 1)) && continue ;;
  esac
  shown=$((shown + 1))
  IFS=';' read -ra all <<<"$tests"
  for test in "${all[@]}"; do
    test=$(trim "$test")
    key=$test
    case $test in sim\ *) ;; *) key="$number $test" ;; esac
    [ -n "${known[$key]-}" ] || known[$key]=$(result_of "$number" "$test")
    printf '       %-18s %s\n' "${known[$key]}" "$test"
    if [ "${known[$key]}" != ok ]; then
      bad=$((bad + 1))
      tail -n 3 "$log" | sed 's/^/         /'
    fi
  done
done <"$list"
echo "$shown statements are shown, $open need code that is not there, $none have no meaning here; $bad tests or lines are wrong"
[ "$bad" -eq 0 ]
