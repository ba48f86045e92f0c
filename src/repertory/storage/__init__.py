"""Blackboards, sessions, turns and commitments in a database: SQLite by default, PostgreSQL at scale.

The door is `repertory.storage.store.Store`; the records it hands out are in `repertory.storage.records`. Nothing is
imported here, so that the records cost no database library.
"""
