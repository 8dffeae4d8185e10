"""Calls every method of PyGorse and checks what it answers. Usage: pygorse.py ENDPOINT KEY MAJOR_VERSION"""

import asyncio
import inspect
import sys
from datetime import datetime, timedelta, timezone

from gorse import AsyncGorse, Gorse, GorseException

endpoint, key, version = sys.argv[1:4]
past = (datetime.now(timezone.utc) - timedelta(minutes=1)).isoformat()


def user(user_id, **more):
    return {"UserId": user_id, "Labels": ["x"], "Comment": "c", **more}


def item(item_id, **more):
    return {
        "ItemId": item_id,
        "IsHidden": False,
        "Labels": ["film"],
        "Categories": ["Drama"],
        "Timestamp": "2022-03-04T05:06:07Z",
        "Comment": "c",
        **more,
    }


def feedback(kind, user_id, item_id):
    return {"FeedbackType": kind, "UserId": user_id, "ItemId": item_id, "Timestamp": past}


async def walk(client):
    called = set()

    async def call(name, *args, **named):
        called.add(name)
        answer = getattr(client, name)(*args, **named)
        return await answer if inspect.isawaitable(answer) else answer

    one = {"RowAffected": 1}
    assert await call("insert_user", user("u1")) == one
    assert await call("insert_users", [user("u2"), user("u3")]) == {"RowAffected": 2}
    assert (await call("get_user", "u1"))["Labels"] == ["x"]
    users, cursor = await call("get_users", 2)
    assert len(users) == 2 and len((await call("get_users", 2, cursor))[0]) == 1
    assert await call("delete_user", "u3") == one
    try:
        await call("get_user", "u3")
        raise AssertionError("a deleted user is found")
    except GorseException as error:
        assert error.status_code == 404, error.status_code

    for name in ("i1", "i2", "i3"):
        assert await call("insert_item", item(name)) == one
    assert await call("update_item", "i2", comment="second", labels=["film", "long"]) == one
    assert (await call("get_item", "i2"))["Comment"] == "second"
    assert (await call("get_item", "i2"))["Categories"] == ["Drama"]
    items, cursor = await call("get_items", 2)
    assert [each["ItemId"] for each in items] == ["i1", "i2"] and cursor

    assert await call("insert_feedback", "like", "u1", "i1", past) == one
    assert await call("insert_feedbacks", [feedback("like", "u2", "i1"), feedback("read", "u2", "i2")]) == {
        "RowAffected": 2
    }
    assert len(await call("list_feedbacks", "like", "u1")) == 1
    assert len((await call("get_feedbacks", 10))[0]) == 3
    neighbors = await call("get_neighbors", "i1")
    assert {"Id", "Score"} == set(neighbors[0]), neighbors
    session = await call("session_recommend", [feedback("like", "s", "i1")])
    assert {"Id", "Score"} == set(session[0]), session
    recommended = await call("get_recommend", "u1", n=2)
    narrow = await call("get_recommend", "u1", "Drama", n=1, offset=1)
    if version == "5":
        assert [entry.id for entry in recommended] == ["i2", "i3"] or [entry.id for entry in recommended] == ["i3", "i2"]
        assert recommended[0].score >= recommended[1].score and len(narrow) == 1
        rich = {"genre": ["court"], "year": 1957}
        assert await call("insert_item", item("i4", Labels=rich)) == one
        assert (await call("get_item", "i4"))["Labels"] == rich
        assert [each["ItemId"] for each in await call("search_items", "COURT")] == ["i4"]
        await client_value(call)
        assert await call("delete_item", "i4") == one
    else:
        assert sorted(recommended) == ["i2", "i3"] and len(narrow) == 1
    written = await call("get_recommend", "u1", write_back_type="read", write_back_delay="0h0m0s")
    assert len(await call("list_feedbacks", "read", "u1")) == len(written) == 2
    if hasattr(client, "delete_feedback"):
        await call("delete_feedback", "u1", "i1")
        assert await call("list_feedbacks", "like", "u1") == []
    for name in ("i1", "i2", "i3"):
        assert await call("delete_item", name) == one
    for name in ("u1", "u2"):
        assert await call("delete_user", name) == one

    methods = {name for name, _ in inspect.getmembers(type(client), inspect.isfunction) if not name.startswith("_")}
    assert methods <= called, methods - called


async def client_value(call):
    """The value of a feedback is kept; only the plain client of 0.5 sends one."""
    await call("insert_feedbacks", [{**feedback("rating", "u2", "i4"), "Value": 4.5}])
    assert (await call("list_feedbacks", "rating", "u2"))[0]["Value"] == 4.5


async def main():
    await walk(Gorse(endpoint, key))
    await walk(AsyncGorse(endpoint, key))
    try:
        Gorse(endpoint, "wrong").get_user("u1")
        raise AssertionError("a wrong key is let in")
    except GorseException as error:
        assert error.status_code == 401


asyncio.run(main())
