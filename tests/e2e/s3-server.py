# SPDX-License-Identifier: BSD-3-Clause
"""A small S3 server on loopback for tests. Like Amazon's it requires that every request is signed by the one key
(SigV4, payload included), checks conditions on ETags, and replaces an object in one step.

  s3-server.py PORT FOLDER

FOLDER/data/BUCKET/KEY are the objects; the bucket "satin" exists. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_REGION and AWS_SESSION_TOKEN (optional) are the only valid credentials. The file FOLDER/fault chooses a fault:
"down" answers 503, "refuse" answers 403 to every write, "full" 507 to every write, "plain" ignores conditions.
FOLDER/log gets a line for each request: method, path, status, bytes received. With FOLDER/cert.pem and key.pem the
server uses TLS."""
import datetime
import hashlib
import hmac
import http.server
import os
import ssl
import sys
import threading
import urllib.parse

FOLDER = sys.argv[2]
KEY, SECRET = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
REGION, TOKEN = os.environ.get("AWS_REGION", "us-east-1"), os.environ.get("AWS_SESSION_TOKEN")
LOCK = threading.Lock()
MINUTES_OFF = 15


def sign(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def fault():
    try:
        with open(os.path.join(FOLDER, "fault")) as file:
            return file.read().strip()
    except OSError:
        return ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sent = 0

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", headers=()):
        with LOCK, open(os.path.join(FOLDER, "log"), "a") as log:
            log.write(f"{self.command} {self.path} {status} {self.sent}\n")
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status, code):
        self.reply(status, f"<Error><Code>{code}</Code></Error>".encode())

    def why_not(self, payload):
        """None if the signature is right, else the S3 code of the error."""
        words = self.headers.get("Authorization", "").split(None, 1)
        if len(words) != 2 or words[0] != "AWS4-HMAC-SHA256":
            return "AccessDenied"
        parts = dict(part.strip().split("=", 1) for part in words[1].split(","))
        key, day, region, service, end = parts["Credential"].split("/")
        signed, when = parts["SignedHeaders"].split(";"), self.headers.get("x-amz-date", "")
        digest = self.headers.get("x-amz-content-sha256", "")
        needed = {"host", "x-amz-date", "x-amz-content-sha256"} | {n.lower() for n in self.headers if n.startswith("x-amz")}
        if key != KEY:
            return "InvalidAccessKeyId"
        if self.headers.get("x-amz-security-token") != TOKEN:
            return "InvalidToken"
        if (region, service, end) != (REGION, "s3", "aws4_request") or not needed <= set(signed) or not when.startswith(day):
            return "AuthorizationHeaderMalformed"
        off = datetime.datetime.strptime(when + "+0000", "%Y%m%dT%H%M%SZ%z") - datetime.datetime.now(datetime.timezone.utc)
        if abs(off) > datetime.timedelta(minutes=MINUTES_OFF):
            return "RequestTimeTooSkewed"
        if digest != hashlib.sha256(payload).hexdigest():
            return "XAmzContentSHA256Mismatch"
        path, _, query = self.path.partition("?")
        pairs = sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))
        quote = lambda text: urllib.parse.quote(text, safe="-_.~")
        lines = [self.command, path, "&".join(f"{quote(a)}={quote(b)}" for a, b in pairs)]
        lines += [f"{name}:{' '.join(self.headers.get(name, '').split())}" for name in signed]
        request = "\n".join(lines + ["", ";".join(signed), digest])
        scope = f"{day}/{region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", when, scope, hashlib.sha256(request.encode()).hexdigest()])
        made = ("AWS4" + SECRET).encode()
        for step in (day, region, "s3", "aws4_request"):
            made = sign(made, step)
        right = hmac.compare_digest(sign(made, text).hex(), parts["Signature"])
        return None if right else "SignatureDoesNotMatch"

    def prepare(self):
        """The path of the object's file; None if the request was already answered."""
        self.payload = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.sent = len(self.payload)
        self.fault, wrong = fault(), self.why_not(self.payload)
        parts = urllib.parse.unquote(self.path.partition("?")[0]).strip("/").split("/")
        bucket = os.path.join(FOLDER, "data", parts[0])
        writes = self.command not in ("GET", "HEAD")
        if self.fault == "down":
            return self.refuse(503, "SlowDown")
        if wrong or (self.fault == "refuse" and writes):
            return self.refuse(403, wrong or "AccessDenied")
        if self.fault == "full" and writes:
            return self.refuse(507, "InsufficientCapacity")
        if len(parts) < 2 or ".." in parts:
            return self.refuse(400, "InvalidRequest")
        if not os.path.isdir(bucket):
            return self.refuse(404, "NoSuchBucket")
        return os.path.join(bucket, *parts[1:])

    def do_GET(self):
        path = self.prepare()
        if path is None:
            return
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            return self.refuse(404, "NoSuchKey")
        etag, span = ("ETag", f'"{hashlib.md5(data).hexdigest()}"'), self.headers.get("Range")
        if span is None:
            return self.reply(200, data, [etag])
        first, last = span.removeprefix("bytes=").split("-")
        if int(first) >= len(data):
            return self.refuse(416, "InvalidRange")
        part = data[int(first):int(last) + 1 if last else None]
        self.reply(206, part, [etag, ("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")])

    do_HEAD = do_GET

    def do_PUT(self):
        path = self.prepare()
        if path is None:
            return
        none, match = self.headers.get("If-None-Match"), self.headers.get("If-Match")
        if self.fault == "plain":
            none = match = None
        with LOCK:
            there = None
            if os.path.exists(path):
                with open(path, "rb") as file:
                    there = f'"{hashlib.md5(file.read()).hexdigest()}"'
            status = 200
            if match is not None and there is None:
                status = 404
            elif (none is not None and there is not None) or (match is not None and match != there):
                status = 412
            else:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                part = os.path.join(FOLDER, f"part-{threading.get_ident()}")
                with open(part, "wb") as file:
                    file.write(self.payload)
                os.replace(part, path)
        if status != 200:
            return self.refuse(status, "PreconditionFailed")
        self.reply(200, headers=[("ETag", f'"{hashlib.md5(self.payload).hexdigest()}"')])

    def do_DELETE(self):
        path = self.prepare()
        if path is None:
            return
        with LOCK:
            if os.path.exists(path):
                os.unlink(path)
        self.reply(204)


os.makedirs(os.path.join(FOLDER, "data", "satin"), exist_ok=True)
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
if os.path.exists(os.path.join(FOLDER, "cert.pem")):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(FOLDER, "cert.pem"), os.path.join(FOLDER, "key.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
