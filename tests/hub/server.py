# SPDX-License-Identifier: Apache-2.0
"""A server of models that behaves as Hugging Face's hub does, and one that its files come from.

    server.py FOLDER

Writes FOLDER/ports ("HUB CDN") when it listens, and a line of FOLDER/log for each request: who
(hub or cdn), method, path, range, token. What is wrong with a model is its name: see the table at
the end. Ends when its standard input does.
"""
import hashlib
import json
import os
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = '0123456789abcdef0123456789abcdef01234567'
PIECE = 50000
CONTENT = {
    'config.json': b'{"model_type": "distilbert"}\n',
    'README.md': b'# not wanted\n',
    'pytorch_model.bin': b'not wanted either',
    'onnx/model.onnx': b'nor this',
    'tokenizer.json': b'{"version": "1.0"}\n',
    'model.safetensors': random.Random(1).randbytes(6 * PIECE + 17),
}
SUMMED = ('model.safetensors',)
lock = threading.Lock()
asked = {}  # how often each path was asked for
ports = []


def etag(name):
    data = CONTENT[name]
    if name in SUMMED:
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(b'blob %d\0' % len(data) + data).hexdigest()


def sibling(name, blobs):
    about = {'rfilename': name}
    if blobs:
        about.update(size=len(CONTENT[name]), blobId=hashlib.sha1(CONTENT[name]).hexdigest())
        if name in SUMMED:
            about['lfs'] = {'sha256': etag(name), 'size': len(CONTENT[name]), 'pointerSize': 130}
    return about


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    who = ''

    def log_message(self, *_):
        pass

    def begin(self):
        """Note the request; returns how often this method and path came before."""
        path = self.path.split('?')[0]
        token = self.headers.get('Authorization', '-').replace(' ', '_')
        with lock:
            before = asked.get((self.command, path), 0)
            asked[self.command, path] = before + 1
            with open(os.path.join(sys.argv[1], 'log'), 'a', encoding='ascii') as log:
                log.write(' '.join((self.who, self.command, path, self.headers.get('Range', '-'),
                                    token)) + '\n')
        return path, before

    def answer(self, status, headers=(), body=b''):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name == 'Content-Length' for name, _ in headers):
            self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)

    def refuse(self, status, code, more=()):
        self.answer(status, [('X-Error-Code', code), *more], b'<html>no</html>')

    def do_HEAD(self):
        self.do_GET()


class Hub(Handler):
    who = 'hub'

    def do_GET(self):
        path, before = self.begin()
        parts = path.strip('/').split('/')
        if parts[:2] == ['api', 'models'] and 'revision' in parts:
            cut = parts.index('revision')
            self.models('/'.join(parts[2:cut]), '/'.join(parts[cut + 1:]), before)
        elif 'resolve' in parts:
            cut = parts.index('resolve')
            self.resolve('/'.join(parts[:cut]), parts[cut + 1], '/'.join(parts[cut + 2:]), before)
        else:
            self.refuse(404, 'RepoNotFound')

    def is_refused(self, model, revision, before):
        token = self.headers.get('Authorization')
        if model == 'org/private' and token != 'Bearer good':
            self.refuse(401, 'RepoNotFound')
        elif model == 'org/locked' and token != 'Bearer good':
            self.refuse(401, '')
        elif model == 'org/busy' and before == 0 and '/api/' in self.path:
            self.refuse(429, '', [('Retry-After', '1')])
        elif model == 'org/overrun':
            self.refuse(429, '', [('Retry-After', '100000')])
        elif model == 'org/failing' and before < 2:
            self.refuse(503, '')
        elif model not in MODELS:
            self.refuse(404, 'RepoNotFound')
        elif revision not in ('main', 'refs%2Fpr%2F1', COMMIT):
            self.refuse(404, 'RevisionNotFound')
        else:
            return False
        return True

    def models(self, model, revision, before):
        if self.is_refused(model, revision, before):
            return
        names = [sibling(name, model != 'org/brief') for name in CONTENT]
        if model == 'org/evil-path':
            names.append({'rfilename': '../../../evil.safetensors'})
        commit = '../../../../evil' if model == 'org/evil-commit' else COMMIT
        body = json.dumps({'sha': commit, 'siblings': names}).encode()
        self.answer(200, [('Content-Type', 'application/json')], body)

    def resolve(self, model, revision, name, before):
        if model == 'plain':
            self.answer(307, [('Location', '/org' + self.path)])
            return
        if self.is_refused(model, revision, before):
            return
        if model == 'org/gated' and self.headers.get('Authorization') != 'Bearer good':
            self.refuse(403, 'GatedRepo')
            return
        if name not in CONTENT or (model == 'org/lacking' and name == 'tokenizer.json'):
            self.refuse(404, 'EntryNotFound')
            return
        tag = '../../../../evil' if model == 'org/evil-etag' else etag(name)
        headers = [('X-Repo-Commit', 'f' * 40 if model == 'org/other' else COMMIT)]
        if name not in SUMMED:
            self.answer(200, headers + [('ETag', '"%s"' % tag)], CONTENT[name])
            return
        place = 'http://127.0.0.1:%d/%s/%s' % (ports[1], model, name)
        self.answer(302, headers + [('ETag', '"of-the-redirection"'), ('X-Linked-ETag', '"%s"' % tag),
                                    ('X-Linked-Size', str(len(CONTENT[name]))), ('Location', place)])


class Cdn(Handler):
    who = 'cdn'

    def do_GET(self):
        path, before = self.begin()
        model, name = path.strip('/').rsplit('/', 1)
        MODELS[model](self, CONTENT[name], before)

    def send(self, data, most=None, slowly=False, ranges=True):
        """All that is asked for; the connection ends after `most` bytes of it."""
        start, headers, status = 0, [('ETag', '"of-the-cdn"')], 200
        if ranges and self.headers.get('Range'):
            start, status = int(self.headers['Range'].split('=')[1].rstrip('-')), 206
            headers.append(('Content-Range', 'bytes %d-%d/%d' % (start, len(data) - 1, len(data))))
        rest = data[start:]
        self.answer(status, headers + [('Content-Length', str(len(rest)))])
        for at in range(0, len(rest) if most is None else min(most, len(rest)), PIECE // 5):
            self.wfile.write(rest[at:at + PIECE // 5])
            self.wfile.flush()
            if slowly:
                time.sleep(0.02)
        if most is not None and most < len(rest):
            self.close_connection = True

    def well(self, data, _):
        self.send(data)

    def slowly(self, data, _):
        self.send(data, slowly=True)

    def dropping(self, data, _):
        self.send(data, most=2 * PIECE)

    def dropping_without_ranges(self, data, before):
        self.send(data, most=2 * PIECE if before == 0 else None, ranges=False)

    def useless(self, data, _):
        self.send(data, most=2 * PIECE, ranges=False)

    def short(self, data, _):
        self.send(data[:-10])

    def long(self, data, _):
        self.send(data + b'more')

    def corrupt(self, data, _):
        self.send(bytes([data[0] ^ 1]) + data[1:])

    def stalling(self, data, before):
        if before > 0:
            self.send(data)
            return
        self.answer(200, [('Content-Length', str(len(data)))], data[:PIECE])
        self.wait_for_end()

    def silent(self, _, __):
        self.wait_for_end()

    def wait_for_end(self):
        self.close_connection = True
        self.connection.recv(1)


# What each model's large file is like.
MODELS = {
    'org/plain': Cdn.well, 'plain': Cdn.well, 'org/gated': Cdn.well, 'org/private': Cdn.well,
    'org/busy': Cdn.well, 'org/failing': Cdn.well, 'org/brief': Cdn.well, 'org/other': Cdn.well,
    'org/lacking': Cdn.well, 'org/evil-path': Cdn.well, 'org/evil-etag': Cdn.well,
    'org/evil-commit': Cdn.well, 'org/slow': Cdn.slowly, 'org/shared': Cdn.slowly,
    'org/ranks': Cdn.slowly, 'org/drops': Cdn.dropping, 'org/drops-all': Cdn.dropping_without_ranges,
    'org/useless': Cdn.useless, 'org/short': Cdn.short, 'org/long': Cdn.long,
    'org/corrupt': Cdn.corrupt, 'org/stalls': Cdn.stalling, 'org/silent': Cdn.silent,
}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients leave when they like."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def main():
    for kind in (Hub, Cdn):
        server = Server(('127.0.0.1', 0), kind)
        ports.append(server.server_address[1])
        threading.Thread(target=server.serve_forever, daemon=True).start()
    path = os.path.join(sys.argv[1], 'ports')
    with open(path + '.new', 'w', encoding='ascii') as file:
        file.write('%d %d\n' % tuple(ports))
    os.rename(path + '.new', path)
    sys.stdin.read()


main()
