"""What schemathesis cannot know of the API, beside schemathesis.toml."""

import schemathesis

LISTS = {"category", "exclude", "label", "not-label", "boost"}


@schemathesis.hook
def filter_query(context, query):
    """Passes over what an address has no other form for: nothing is an empty text, and one text is a list of one."""
    return not query or all(
        isinstance(value, list) and value if name in LISTS else value not in (None, [], {})
        for name, value in query.items()
    )
