"""64 threads that ask one server again and again over kept connections, until it takes no new ones.

Writes "asked" once all have an answer, and at the end a line of JSON: requests that got an answer, and those that got none.
"""
import json
import sys
import threading

import requests

CLIENTS = 64
answered = [0] * CLIENTS
lost = []
started = threading.Barrier(CLIENTS + 1)


def keep_asking(place):
    with requests.Session() as session:
        while True:
            try:
                answer = session.get(sys.argv[1], timeout=300)
                if answer.status_code != 200 or answer.text != '"ok"':
                    raise ValueError(f"{answer.status_code} {answer.text}")
            except Exception as error:
                # A connection that was not even made asked for nothing.
                if "NewConnectionError" not in repr(error):
                    lost.append(repr(error))
                return
            answered[place] += 1
            if answered[place] == 1:
                started.wait()


threads = [threading.Thread(target=keep_asking, args=(place,)) for place in range(CLIENTS)]
for thread in threads:
    thread.start()
started.wait()
print("asked", flush=True)
for thread in threads:
    thread.join()
print(json.dumps({"answered": sum(answered), "lost": lost}), flush=True)
