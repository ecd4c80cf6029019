"""What agents keep beside memories: events, reminders, decisions, restart snapshots, project views.

All of these are ordinary records of a kind of their own, written and read through the engine's
verbs; rights, expiry, forgetting and search hold for them without a line here.
"""
