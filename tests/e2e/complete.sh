#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What shells offer as completions: verbs, options, plans, runs and nodes. Runs bash's completion; zsh and fish only where they
# are installed.
. "$(dirname "$0")/lib.sh"
choose_heavy
mkdir "$work/bin"
ln -s "$satin" "$work/bin/satin"
PATH=$work/bin:$PATH # not $SATIN_BIN, which contains another `sleep`
scripts=$SATIN_SOURCE/satin/command/completion

# Prints on one line what bash offers for the last of these words.
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
is "… after help, too" "$(offers help me)" "metrics merge"
is "options are completed" "$(offers jobs --j)" "--json"
is "… only those of the verb" "$(offers log --)" "--help --follow"
while read -r verb; do
  case $verb in version | help) continue ;; esac
  is "… those of $verb are those in its help" "$(offers "$verb" -- | tr ' ' '\n')" \
    "$("$satin" "$verb" --help | grep -oE '^  (-[a-z], )?--[a-z-]+' | sed 's/.*--/--/')"
  ok "… $verb has a help page" "$satin" "$verb" --help
done < <("$satin" help | sed -n 's/^  satin \([a-z]*\) .*/\1/p')
is "plans of protection are completed" "$(offers run --protect m)" "mirror"
is "an unknown verb has none" "$(offers nothing --)" ""
is "without runs none is offered" "$(offers cancel '')" ""
begin "$satin" run -n 2 -w 1 --name listed -- "${heavy[@]}"
ok "a run on two nodes" wait_for $((20 * slow)) up listed 2
while read -r verb; do
  is "runs are completed for $verb" "$(offers "$verb" li)" "listed"
done < <("$satin" help | sed -nE 's/^  satin ([a-z]+) +\[?RUN.*/\1/p')
is "… after an option" "$(offers jobs --json '')" "listed"
is "nodes are completed" "$(offers leave listed 1)" "1.1 1.2"
is "… for log" "$(offers log listed '')" "1.1 1.2"
is "… but not where the verb takes none" "$(offers cancel listed '')" ""
is "arguments of a program are left to the shell" "$(offers run -- l)" ""
is "file names are left to the shell" "$(offers inspect '')" ""
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
is "a run that has ended is not offered" "$(offers cancel li)" ""
finish
