"""Writes the description of the HTTP interface, from which the web client's types are generated.

python -m repertory.server.openapi_document > web/openapi.json
"""

import json
import sys
from typing import Any

from repertory.server.app import create_app
from repertory.server.panel.mount import add_panel_routes
from repertory.serving.access import Access
from repertory.serving.gateway.gateway import Gateway
from repertory.serving.host_check import HostCheck

__all__ = ("document_text", "main", "openapi_document")


def openapi_document() -> dict[str, Any]:
    """The description of what every server answers, whatever it serves."""
    app = create_app(Gateway((), access=Access(HostCheck(), None)))
    add_panel_routes(app)
    return app.openapi()


def document_text() -> str:
    """The same as text, as it is kept."""
    return json.dumps(openapi_document(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def main() -> None:
    """Write it to the standard output."""
    sys.stdout.write(document_text())


if __name__ == "__main__":
    main()
