#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The output of --json names its format, satin(1) describes every member of it, and no member that format 1 promised is missing.
. "$(dirname "$0")/lib.sh"
if ! perl -MJSON::PP -e1 2>/dev/null; then
  echo "1..0 # SKIP there is no perl with JSON::PP"
  exit 0
fi
page=$SATIN_SOURCE/satin/command/satin.1
# The names in the section JSON, one a line.
sed -n '/^\.Sh JSON/,/^\.Sh ENV/p' "$page" | grep -E '^\.(It )?Ql ' | sed 's/^\.\(It \)\{0,1\}Ql //; s/ [.,;]$//' \
  | tr -d ' ' | tr ',' '\n' | sort -u >"$work/documented"
ok "the page has names" [ "$(wc -l <"$work/documented")" -ge 40 ]

# Prints the names of all members, except those inside the member `run` of inspect, whose keys satin-checkpoint(5) describes.
cat >"$work/names.pl" <<'END'
use JSON::PP;
local $/; my %names;
sub walk {
  my ($value) = @_;
  if (ref $value eq 'HASH') { for (keys %$value) { $names{$_} = 1; walk ($value->{$_}) unless $_ eq 'run' && ref $value->{$_}; } }
  if (ref $value eq 'ARRAY') { walk ($_) for @$value; }
}
my $all = decode_json (<STDIN>);
die "no format\n" unless $all->{format} == 1;
walk ($all);
print "$_\n" for sort keys %names;
END
check () { # NAME COMMAND…
  local name=$1
  shift
  try "$@"
  is "$name answers" "$code" 0
  perl "$work/names.pl" <"$work/answer" >"$work/names"
  ok "$name says its format" test -s "$work/names"
  is "satin(1) describes every member of $name" "$(comm -23 "$work/names" "$work/documented" | tr '\n' ' ')" ""
  # formats/json-1 has what version 1.0.0 prints here. A later version may only add members, as satin(1) promises.
  sed -n "s/^$name: //p" "$SATIN_SOURCE/tests/e2e/formats/json-1" | tr ' ' '\n' | sort >"$work/promised"
  ok "there are promised members of $name" test -s "$work/promised"
  is "$name has all promised members" "$(comm -13 "$work/names" "$work/promised" | tr '\n' ' ')" ""
}

c=$work/c.db
choose_heavy
begin "$satin" run -n 2 -w 1 --name told --interval 0.2 --checkpoint "$c" -- "${heavy[@]}"
ok "a run on two nodes" wait_for $((20 * slow)) up told 2
check status "$satin" status told --json
runs_jobs () { "$satin" jobs told --json | grep -q '"path"'; }
ok "the nodes have jobs" wait_for $((20 * slow)) runs_jobs
check jobs "$satin" jobs told --json
kill -9 "$(other_of told)"
finished
is "the answer" "$answer" "$heavy_answer"
check "status --all" "$satin" status --all --json
ok "… of a run that has ended" grep -qx exit_code "$work/names"
check inspect "$satin" inspect "$c" --json
cp "$(instance kroA100.tsp)" "$work/a.tsp"
begin "$SATIN_BIN/tsp" "$work/a.tsp" --checkpoint "$work/t.db" --interval 0.1
ok "a tour has rows" wait_for $((30 * slow)) has_rows "$work/t.db" 3
kill -TERM "$begun"
ended
check "inspect of a suspended tour" "$satin" inspect "$work/t.db" --json
ok "… which has results" grep -qx results "$work/names"
finish
