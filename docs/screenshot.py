"""Draw a turn as a terminal picture for the README: `python -m docs.screenshot [USER [TURN]]` (default: the last).

Nothing is made up: message, replies and timeline are read from the store that `make demo` wrote.
"""

import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from repertory.cli.safe_text import printable
from repertory.cli.timeline_view import render_timeline
from repertory.runtime.events import event_adapter
from repertory.runtime.timeline import build_timeline
from repertory.storage.store import Store

PICTURE = Path(__file__).parent / "images" / "turn.svg"


def main() -> None:
    user = sys.argv[1] if len(sys.argv) > 1 else "demo"
    with Store.open() as store:
        wanted = sys.argv[2] if len(sys.argv) > 2 else None
        turn = store.turns.find_turn(wanted) if wanted else store.turns.latest_turn("coaching", user)
        if turn is None:
            sys.exit(f"user {user!r} has no turn; run `make demo` first")
        result = store.turns.result(turn.id)
        events = [event_adapter.validate_json(event.body) for event in store.turns.events(turn.id)]
        session = store.sessions.find("coaching", user, turn.session)
        said = store.messages.messages(session) if session else []
        message = next(message for message in said if message.turn == turn.id and message.role == "person")
    console = Console(record=True, width=108, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(Text("$ repertory demo", style="bold"), "")
    console.print(Text(f"> {printable(message.text)}", style="cyan"), "")
    console.print(Text(printable(result["first_reply"])), "")
    if result["reply"]:
        console.print(Text(printable(result["reply"])), "")
    console.print(render_timeline(build_timeline(events), 106))
    PICTURE.parent.mkdir(exist_ok=True)
    picture = console.export_svg(title="Repertory: one turn of the coaching team")
    # The picture must need no network: the reader's own monospace font serves.
    PICTURE.write_text(re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
