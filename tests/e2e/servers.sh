# SPDX-License-Identifier: BSD-3-Clause
# Servers on loopback for tests: start_sftp, start_ftp, start_dav, start_s3 FOLDER. Each creates FOLDER for all its files,
# starts the server, and sets `uri` to a folder in it (without a slash at the end) and server_pid. It returns 77 if the server
# is not installed, with the reason in `why`. stop_servers ends all servers. If they are set, start_sftp listens on $SERVE_ON,
# and starts the server by the command $SERVE_BY.
server_pids=()

free_port () { # prints a port on which no process listens
  local port
  while :; do
    port=$((20000 + RANDOM % 30000))
    (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null || { echo $port; return; }
  done
}

wait_port () { # PORT PID [ADDRESS]
  for _ in $(seq 400); do
    kill -0 "$2" 2>/dev/null || return 1
    (exec 3<>/dev/tcp/"${3:-127.0.0.1}"/"$1") 2>/dev/null && return 0
    sleep 0.05
  done
  return 1
}

need () { # PROGRAM PACKAGE
  PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null && return
  why="$1 is not installed (package $2)"
  return 77
}

started () { # PORT PID [ADDRESS]
  server_pid=$2
  server_pids+=("$2")
  wait_port "$1" "$2" "${3-}" && return
  why="the server did not start: $(tail -n 2 "$dir/log" 2>/dev/null | tr '\n' ' ')"
  return 77
}

# Prints the process ids of the last server that was started and of all its descendants.
server_tree () {
  local pid all=() next=("$server_pid")
  while [ ${#next[@]} -gt 0 ]; do
    all+=("${next[@]}")
    # shellcheck disable=SC2207
    next=($(for pid in "${next[@]}"; do children_of "$pid"; done))
  done
  echo "${all[*]}"
}

# Sends STOP, CONT or KILL to all processes of the last server. All are stopped first: a stopped process starts no other one,
# which would escape the signal.
signal_server () { # SIGNAL
  local now last=''
  while now=$(server_tree); [ "$now" != "$last" ]; do
    # shellcheck disable=SC2086
    kill -STOP $now 2>/dev/null
    last=$now
  done
  # shellcheck disable=SC2086
  kill "-$1" $now 2>/dev/null
}

stop_servers () {
  for pid in "${server_pids[@]}"; do kill -CONT "$pid" 2>/dev/null; kill "$pid" 2>/dev/null; done
  server_pids=()
}

# The OpenSSH server, run by the user of this script, with its own host key and one key that may log in. Leaves the keys and
# known hosts in FOLDER/home/.ssh: run clients with HOME=FOLDER/home.
start_sftp () {
  local dir=$1 port on=${SERVE_ON:-127.0.0.1}; need sshd openssh-server || return
  mkdir -p "$dir/files" "$dir/home/.ssh"; chmod 700 "$dir/home/.ssh"; port=$(free_port)
  [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
  [ -f "$dir/hostkey" ] || ssh-keygen -q -t ed25519 -N '' -f "$dir/hostkey"
  [ -f "$dir/home/.ssh/id_ed25519" ] || ssh-keygen -q -t ed25519 -N '' -f "$dir/home/.ssh/id_ed25519"
  cp "$dir/home/.ssh/id_ed25519.pub" "$dir/authorized"
  echo "[$on]:$port $(cut -d' ' -f1,2 "$dir/hostkey.pub")" >>"$dir/home/.ssh/known_hosts"
  cat >"$dir/config" <<END
Port $port
ListenAddress $on
HostKey $dir/hostkey
AuthorizedKeysFile $dir/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
MaxStartups 200
Subsystem sftp internal-sftp ${SFTP_OPTIONS-}
${SATIN_SANITIZED:+SetEnv $(sanitizer_words)}
END
  ${SERVE_BY-} "$(PATH="$PATH:/usr/sbin" command -v sshd)" -D -e -f "$dir/config" 2>"$dir/log" &
  started "$port" $! "$on" || return
  uri=sftp://$(id -un)@$on:$port$dir/files
}

# Servers that do not run as root need access to FOLDER.
open_way () {
  local up=$1; while [ "$up" != / ] && [ "$up" != /tmp ]; do chmod a+x "$up"; up=$(dirname "$up"); done
}

# Makes an authority, ca.pem, and a certificate signed by it for 127.0.0.1, cert.pem with key.pem.
certify () {
  local dir=$1 key=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
  need openssl openssl || return
  openssl req -x509 "${key[@]}" -subj '/CN=An authority' -days 30 -keyout "$dir/ca.key" -out "$dir/ca.pem" 2>/dev/null \
    && openssl req "${key[@]}" -subj /CN=127.0.0.1 -keyout "$dir/key.pem" -out "$dir/request.pem" 2>/dev/null \
    && openssl x509 -req -in "$dir/request.pem" -CA "$dir/ca.pem" -CAkey "$dir/ca.key" -CAcreateserial -days 30 \
      -extfile <(echo subjectAltName=IP:127.0.0.1) -out "$dir/cert.pem" 2>/dev/null && return
  why="openssl makes no certificate"
  return 77
}

# vsftpd, writable. Only root can run it. The only user is `anonymous`, with the password $FTP_PASSWORD if it is set. TLS=yes:
# ftps, and clients need CURL_CA_BUNDLE=FOLDER/ca.pem. TLS=start: the same by AUTH TLS.
start_ftp () {
  local dir=$1 port scheme=ftp; need vsftpd vsftpd || return
  [ "$(id -u)" -eq 0 ] || { why="vsftpd needs root"; return 77; }
  mkdir -p "$dir/root/files" "$dir/empty"; port=$(free_port); chmod 755 "$dir" "$dir/root"; chmod 777 "$dir/root/files"
  open_way "$dir"
  cat >"$dir/config" <<END
listen=YES
listen_address=127.0.0.1
listen_port=$port
anonymous_enable=YES
anon_root=$dir/root
anon_upload_enable=YES
anon_mkdir_write_enable=YES
anon_other_write_enable=YES
anon_world_readable_only=NO
anon_umask=022
write_enable=YES
secure_chroot_dir=$dir/empty
background=NO
seccomp_sandbox=NO
xferlog_enable=NO
END
  if [ -n "${FTP_PASSWORD-}" ]; then
    echo "$FTP_PASSWORD" >"$dir/passwords"
    printf 'secure_email_list_enable=YES\nemail_password_file=%s\n' "$dir/passwords" >>"$dir/config"
  fi
  if [ "${TLS:-no}" != no ]; then
    scheme=ftps
    certify "$dir" || return
    printf '%s=YES\n' ssl_enable allow_anon_ssl force_anon_data_ssl force_anon_logins_ssl >>"$dir/config"
    printf 'rsa_cert_file=%s\nrsa_private_key_file=%s\n' "$dir/cert.pem" "$dir/key.pem" >>"$dir/config"
    [ "$TLS" = start ] || echo implicit_ssl=YES >>"$dir/config"
  fi
  vsftpd "$dir/config" >"$dir/log" 2>&1 &
  started "$port" $! || return
  uri=$scheme://127.0.0.1:$port/files
}

# Apache with WebDAV. TLS=yes: https; clients need CURL_CA_BUNDLE=FOLDER/ca.pem.
start_dav () {
  local dir=$1 port modules=/usr/lib/apache2/modules module scheme=http; need apache2 apache2 || return
  mkdir -p "$dir/root/files" "$dir/run"; port=$(free_port); chmod 777 "$dir/root/files" "$dir/run"
  open_way "$dir"
  if [ "${TLS:-no}" = yes ]; then certify "$dir" || return; fi
  {
    echo "ServerRoot $dir"; echo "Listen 127.0.0.1:$port"; echo "ServerName 127.0.0.1"; echo "PidFile $dir/pid"
    echo "ErrorLog $dir/log"; echo "DocumentRoot $dir/root"; echo "DavLockDB $dir/run/locks"
    [ "$(id -u)" -ne 0 ] || printf 'User www-data\nGroup www-data\n'
    for module in mpm_event authn_core authz_core dav dav_fs auth_basic authn_file authz_user rewrite env ratelimit; do
      echo "LoadModule ${module}_module $modules/mod_$module.so"
    done
    if [ "${TLS:-no}" = yes ]; then
      scheme=https
      echo "LoadModule ssl_module $modules/mod_ssl.so"; echo "SSLEngine on"
      echo "SSLCertificateFile $dir/cert.pem"; echo "SSLCertificateKeyFile $dir/key.pem"
    fi
    echo "<Directory $dir/root>"; echo "  Dav On"; echo "${DAV_MORE:-  Require all granted}"; echo "</Directory>"
  } >"$dir/config"
  PATH="$PATH:/usr/sbin" apache2 -X -f "$dir/config" >>"$dir/log" 2>&1 &
  started "$port" $! || return
  uri=$scheme://127.0.0.1:$port/files
}

# s3-server.py, with one bucket and one key; the file FOLDER/fault chooses a fault. TLS=yes: its endpoint is https, and clients
# need AWS_CA_BUNDLE=FOLDER/ca.pem.
start_s3 () {
  local dir=$1 port scheme=http python=/usr/bin/python3 # a python3 in the user's PATH may need the user's HOME
  [ -x $python ] || python=$(command -v python3) || { why="python3 is not installed"; return 77; }
  mkdir -p "$dir/data/satin"; port=$(free_port)
  if [ "${TLS:-no}" = yes ]; then certify "$dir" || return; scheme=https; fi
  export AWS_ENDPOINT_URL=$scheme://127.0.0.1:$port AWS_ACCESS_KEY_ID=ONE AWS_SECRET_ACCESS_KEY=very/secret AWS_REGION=here
  "$python" "$SATIN_SOURCE/tests/e2e/s3-server.py" "$port" "$dir" >"$dir/said" 2>&1 &
  started "$port" $! || return
  uri=s3://satin/files
}

# s3rver (npm), with one bucket: an S3 server of another project. It accepts any signature on reads and ignores conditions.
start_s3rver () {
  local dir=$1 port main; main=${S3RVER:-$(command -v s3rver)}
  [ -n "$main" ] || { why="s3rver is not installed (npm install s3rver)"; return 77; }
  mkdir -p "$dir/data"; port=$(free_port)
  "$main" -d "$dir/data" -a 127.0.0.1 -p "$port" --configure-bucket satin --no-vhost-buckets >"$dir/log" 2>&1 &
  started "$port" $! || return
  unset AWS_REGION
  export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_ACCESS_KEY_ID=S3RVER AWS_SECRET_ACCESS_KEY=S3RVER
  uri=s3://satin/files
}

# Builds the library that is put in front of libcurl (curl-shim.c), and sets `shim` to the variables of the environment that a
# program needs. FALSE with the reason in `why`.
make_shim () # FOLDER
{
  local real
  real=$(PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null | sed -n 's/.*libcurl\.so\.4 .*=> //p' | head -n 1)
  why='no way to put anything in front of libcurl'
  [ -n "$real" ] && [ -z "${SATIN_SANITIZED-}" ] || return
  mkdir -p "$1"
  ${CC:-cc} -shared -fPIC -O1 -o "$1/libcurl.so.4" "$SATIN_SOURCE/tests/e2e/curl-shim.c" -ldl 2>"$1/found" || return
  shim=(REAL_CURL="$real" LD_LIBRARY_PATH="$1")
}
