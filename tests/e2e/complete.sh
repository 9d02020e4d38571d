#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What shells offer for a word of the command: verbs, options, plans, runs and nodes. bash itself is asked; zsh and fish where they are.
. "$(dirname "$0")/lib.sh"
choose_heavy
mkdir "$work/bin"
ln -s "$satin" "$work/bin/satin"
PATH=$work/bin:$PATH # not $SATIN_BIN, which has a sleep of its own
scripts=$SATIN_SOURCE/satin/command/completion

# What bash would offer for the last of these words, in one line.
offers ()
{
  bash --norc -c '
    . "$1"
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _satin
    echo "${COMPREPLY[*]}"' bash "$scripts/satin" satin "$@"
}
is "verbs are completed" "$(offers sus)" "suspend"
verbs=$("$satin" help | grep -c '^  satin [a-z]')
is "… all of them" "$(offers '' | wc -w)" "$verbs"
is "… behind help too" "$(offers help me)" "metrics merge"
is "options are completed" "$(offers jobs --j)" "--json"
is "… of the verb" "$(offers log --)" "--help --follow"
while read -r verb; do
  case $verb in version | help) continue ;; esac
  is "… those of $verb that its help has" "$(offers "$verb" -- | tr ' ' '\n')" \
    "$("$satin" "$verb" --help | grep -oE '^  (-[a-z], )?--[a-z-]+' | sed 's/.*--/--/')"
  ok "… and there are some" "$satin" "$verb" --help
done < <("$satin" help | sed -n 's/^  satin \([a-z]*\) .*/\1/p')
is "plans of protection are completed" "$(offers run --protect m)" "mirror"
is "an unknown verb has none" "$(offers nothing --)" ""
is "there are no runs" "$(offers cancel '')" ""
begin "$satin" run -n 2 -w 1 --name listed -- "${heavy[@]}"
ok "a run on two nodes" wait_for $((20 * slow)) up listed 2
while read -r verb; do
  is "runs are completed for $verb" "$(offers "$verb" li)" "listed"
done < <("$satin" help | sed -nE 's/^  satin ([a-z]+) +\[?RUN.*/\1/p')
is "… behind an option" "$(offers jobs --json '')" "listed"
is "nodes are completed" "$(offers leave listed 1)" "1.1 1.2"
is "… for log" "$(offers log listed '')" "1.1 1.2"
is "… and not where none is meant" "$(offers cancel listed '')" ""
is "the words of a program are the shell's" "$(offers run -- l)" ""
is "a file is the shell's" "$(offers inspect '')" ""
if command -v fish >/dev/null 2>&1; then
  is "fish completes runs" "$(fish --no-config -c "source $scripts/satin.fish; complete -C 'satin cancel li'")" "listed"
else
  skip "fish completes runs" "there is no fish"
fi
if command -v zsh >/dev/null 2>&1; then
  ok "zsh takes its script" zsh -n "$scripts/_satin"
else
  skip "zsh takes its script" "there is no zsh"
fi
finished
is "the answer" "$answer" "$heavy_answer"
try "$satin" cancel gone-run
is "what has ended is not completed" "$(offers cancel li)" ""
finish
