"""Which rules of the design the second implementation follows.

It knows them all. A comparison follows only those that the package under test has by now: see
`LANDED`.
"""

ALL = frozenset(
    {
        "cancelling",  # a permission request while cancelling is answered by the store
        "close",  # closing a session takes its requests away
        "content",  # what a prompt shows while a replay goes on, and after one that is undone
        "depth",  # 256 levels
        "elicitations",
        "answers",  # those to `session/list`, `auth/login` and `auth/logout` are typed, too
        "loss",  # a lost connection is said by each session, and undoes a replay
        "newest resume",  # only the newest replay counts
        "results",  # every result ends a replay
        "turns",
        "unstable",  # usage of idle states, plans of other kinds, removed plans
        "wanted",  # options show the value that is asked for
        "withdrawn",  # -32800 is no rejection
    }
)
LANDED_V1: frozenset[str] = ALL - {"answers"}
LANDED: frozenset[str] = ALL - {"answers"}
