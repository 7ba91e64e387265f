"""serve.py datasette|drf: a real paginated server on a free port of 127.0.0.1, in the foreground.

Prints "ready PORT ITEMS SHA256" when it answers: how many languages a whole crawl has, and the hash over their
sorted ids, taken from the data and not from the server. Its data goes when it ends.
"""
import pathlib
import signal
import socket
import sys
import tempfile

import uvicorn

import languages


def datasette(path):
    from datasette.app import Datasette

    return Datasette(immutables=[path]).app()


def drf(path):
    import drf

    return drf.application(path)


class Server(uvicorn.Server):
    """Says when it is ready."""

    facts = ""

    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("ready", self.facts, flush=True)


def main(name):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the server raises it again when it has closed
    with tempfile.TemporaryDirectory(prefix="pagehound-upstream-") as folder:
        path = str(pathlib.Path(folder, "iso.db"))
        items, digest = languages.write(path)
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        app = {"datasette": datasette, "drf": drf}[name](path)
        server = Server(uvicorn.Config(app, log_level="warning", timeout_keep_alive=60))
        server.facts = f"{listener.getsockname()[1]} {items} {digest}"
        server.run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
