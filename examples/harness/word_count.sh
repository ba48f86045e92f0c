#!/bin/sh
# An agent without a model: it counts the words of its context, which is on its standard input.
printf '{"words": %d}' "$(wc -w)"
