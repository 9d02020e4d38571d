#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Strangers send bytes to the nodes' sockets during a run: the run is not disturbed.
. "$(dirname "$0")/lib.sh"
command -v perl >/dev/null || { echo "1..0 # SKIP no perl"; exit 0; }
choose_heavy

# Sends bytes to an address (unix:PATH or tcp:HOST:PORT): random bytes, long frames, or nothing.
cat >"$work/throw.pl" <<'END'
use strict; use Socket; $SIG{PIPE} = 'IGNORE';
my ($address, $thrown) = @ARGV; my @open;
for my $round (0 .. 11) {
  my $s;
  if ($address =~ /^unix:(.*)/) { socket ($s, AF_UNIX, SOCK_STREAM, 0); connect ($s, pack ('S Z*', AF_UNIX, $1)) or next; }
  elsif ($address =~ /^tcp:(.*):(\d+)$/) {
    socket ($s, AF_INET, SOCK_STREAM, 0); connect ($s, sockaddr_in ($2, inet_aton ($1))) or next; }
  else { next; }
  my $bytes = $round % 4 == 0 ? join ('', map { chr (int (rand (256))) } 1 .. 4000)
    : $round % 4 == 1 ? "\xff" x 64
    : $round % 4 == 2 ? "GET / HTTP/1.0\r\n\r\n"
    : pack ('V2', 16, 1) . ("\0" x 8);
  syswrite ($s, $bytes) unless $round > 8;
  push @open, $s if $round % 2;    # half of the connections stay open and send nothing more
}
open (my $out, '>', $thrown) or die; close ($out);
sleep; # the connections stay open until this process is killed
END

not () { ! "$@"; }
# Starts a thrower for each address of the nodes of RUN; they last until stop_throwing.
throw_at () # RUN
{
  local pid address
  throwers=()
  for pid in $(nodes_of "$1" | awk '{ print $1 }'); do
    while read -r address || [ -n "$address" ]; do # the last line has no end
      perl "$work/throw.pl" "$address" "$work/thrown-${#throwers[@]}" &
      throwers+=($!)
    done <"$runs/$1/node-$pid.address"
  done
}
has_thrown () { [ "$(find "$work" -maxdepth 1 -name 'thrown-*' | wc -l)" -eq ${#throwers[@]} ]; }
stop_throwing ()
{
  kill "${throwers[@]}"
  wait "${throwers[@]}"
  rm -f "$work"/thrown-*
}

for way in "" --tcp; do
  # shellcheck disable=SC2086
  begin "$satin" run -n 3 --name target $way -- "${heavy[@]}"
  ok "three nodes are up${way:+ with $way}" wait_for $((10 * slow)) up target 3
  is "who may read the key${way:+ with $way}" "$(stat -c %a "$runs/target/key.pem")" 600
  if [ -n "$way" ]; then
    ok "they listen at loopback" grep -q '^tcp:127\.0\.0\.1:' "$runs"/target/node-*.address
  else
    ok "without --tcp no node listens at a TCP port" not grep -q '^tcp:' "$runs"/target/node-*.address
  fi
  throw_at target
  ok "bytes are sent to all of them${way:+ with $way}" wait_for $((20 * slow)) has_thrown
  finished
  stop_throwing
  is "the answer is right${way:+ with $way}" "$answer" "$heavy_answer"
  is "no node died${way:+ with $way}" "$words" ""
done

# A node without GnuTLS has no TCP; everything else works.
mkdir "$work/none" && : >"$work/none/libgnutls.so.30"
try "$satin" run -n 2 -- env LD_LIBRARY_PATH="$work/none" "$SATIN_BIN/fib" 20
is "without TLS a run on Unix sockets works" "$answer" 6765
try "$satin" run -n 2 --tcp -- env LD_LIBRARY_PATH="$work/none" "$SATIN_BIN/fib" 20
is "without TLS --tcp is refused" "$code:$words" \
  "1:satin: TCP needs TLS, and GnuTLS is not here: install libgnutls30"
try "$satin" run -n 2 --listen 0.0.0.0 -- "$SATIN_BIN/fib" 20
is "listening at all addresses is refused" "$code" 2
try "$satin" run -n 2 --listen 192.0.2.1 -- "$SATIN_BIN/fib" 20
is "listening at another host's address is refused" "$code" 1
ok "with the reason" grep -q "^satin: cannot listen at 192.0.2.1: " <<<"$words"
finish
