"""An agent of your own program: it asks the model twice, and answers with the second text.

It reads its context as JSON on standard input and writes its answer to standard output. The model is at the address in
its environment, by OpenAI's API; nothing else can be reached, and no file outside the working folder.
"""

import json
import os
import sys
import urllib.request


def ask(messages: list[dict[str, str]]) -> str:
    """One request to the model."""
    body = json.dumps({"model": os.environ["OPENAI_MODEL"], "messages": messages}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    request = urllib.request.Request(f"{os.environ['OPENAI_BASE_URL']}/chat/completions", body, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


context = json.load(sys.stdin)
draft = ask(context["messages"])
again = [
    *context["messages"],
    {"role": "assistant", "content": draft},
    {"role": "user", "content": "Say the same in half the words."},
]
print(ask(again))
