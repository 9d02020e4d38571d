#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Plain ftp and http send passwords in clear: no verb connects there without --insecure. The servers are stubs that log each
# connection and each line.
. "$(dirname "$0")/lib.sh"
python=/usr/bin/python3 # a python3 in the user's PATH may need the user's HOME
[ -x $python ] || python=$(command -v python3) || { echo "1..0 # SKIP python3 is not installed"; exit 0; }
cat >"$work/stub.py" <<'END'
import socketserver, sys
class Stub(socketserver.StreamRequestHandler):
    def note(self, text):
        with open(sys.argv[2], "a") as log:
            log.write(text + "\n")
    def handle(self):
        self.note("connected")
        try:
            if sys.argv[1] == "ftp":
                self.wfile.write(b"220 stub\r\n")
            for line in self.rfile:
                word = line.decode("latin-1").strip()
                self.note(word)
                if sys.argv[1] == "ftp":
                    self.wfile.write({"USER": b"331 more\r\n", "PASS": b"230 in\r\n"}.get(word[:4], b"550 no\r\n"))
                elif word == "":
                    self.wfile.write(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    return
        except OSError:
            pass
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
server = Server(("127.0.0.1", 0), Stub)
with open(sys.argv[3], "w") as port:
    port.write(str(server.server_address[1]) + "\n")
server.serve_forever()
END
mkdir "$work/home"
export HOME=$work/home
for scheme in ftp http; do
  $python "$work/stub.py" $scheme "$work/$scheme.log" "$work/$scheme.port" >"$work/$scheme.words" 2>&1 &
  ok "$scheme: the stub is up" wait_for 10 test -s "$work/$scheme.port"
done
echo "machine 127.0.0.1 login me password openSesame" >"$HOME/.netrc"
chmod 600 "$HOME/.netrc"
fib=("$SATIN_BIN/fib" 10)
"${fib[@]}" --checkpoint "$work/own.db" >"$work/nothing" 2>&1

visit () # VERB INSECURE URI: runs VERB on URI, with --insecure if INSECURE is yes
{
  local verb=$1 uri=$3 insecure=()
  [ "$2" = yes ] && insecure=(--insecure)
  case $verb in
    alone) try "${fib[@]}" --checkpoint "$uri" "${insecure[@]}" ;;
    run) try "$satin" run "${insecure[@]}" --checkpoint "$uri" -- "${fib[@]}" ;;
    run-program) try "$satin" run -- "${fib[@]}" --checkpoint "$uri" "${insecure[@]}" ;;
    run-new) try "$satin" run "${insecure[@]}" --new --checkpoint "$uri" -- "${fib[@]}" ;;
    resume) try "$satin" resume "$uri" "${insecure[@]}" ;;
    resume-elsewhere) try "$satin" resume "$work/own.db" --checkpoint "$uri" "${insecure[@]}" -- "${fib[0]}" ;;
    merge-out) try "$satin" merge "${insecure[@]}" "$uri" "$work/own.db" "$work/own.db" ;;
    merge-in) try "$satin" merge "${insecure[@]}" "$work/out.db" "$uri" "$work/own.db" ;;
    view) try "$satin" view "$uri" "${insecure[@]}" --html "$work/page.html" ;;
    replay) try "$satin" replay "$uri" / "${insecure[@]}" ;;
    inspect | status | trust) try "$satin" "$verb" "$uri" "${insecure[@]}" ;;
    *) try "$satin" "$verb" "$uri" ;;
  esac
}

for scheme in ftp http; do
  uri=$scheme://127.0.0.1:$(cat "$work/$scheme.port")/x.db
  for verb in alone run run-program run-new resume resume-elsewhere merge-out merge-in inspect status view replay trust; do
    visit $verb no "$uri"
    ok "$scheme: $verb connects nowhere without --insecure" [ ! -e "$work/$scheme.log" ]
    is "$scheme: … and its exit code is 4" "$code" 4
    ok "$scheme: … and says why" grep -q "sends passwords and results in clear" <<<"$words"
    rm -f "$work/$scheme.log"
    visit $verb yes "$uri"
    ok "$scheme: $verb connects with it" grep -qs connected "$work/$scheme.log"
    rm -f "$work/$scheme.log"
  done
  for verb in suspend save cancel wait log add leave; do
    visit $verb no "$uri"
    ok "$scheme: $verb connects nowhere" [ ! -e "$work/$scheme.log" ]
    ok "$scheme: … and fails" [ "$code" -ne 0 ]
    rm -f "$work/$scheme.log"
  done
done
finish
