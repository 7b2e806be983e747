"""The small cluster of script/server --nodes: what it prints holds, a node is killed, and nothing is left at its end."""
import json, os, re, signal, subprocess, sys

from cluster import ROOT, check, request, wait


def nodes(options):
    command = [sys.executable, os.path.join(ROOT, "script/scale.d/nodes.py"), "--larder", options.larder, "--nodes", "3",
               "--sandbox", "--http-port", "0", "--store-kept-ms", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    lines = []
    try:
        for line in process.stdout:
            lines.append(line)
            if line.startswith("Stop a node"):
                break
        check("the cluster has started", process.poll() is None and lines and lines[-1].startswith("Stop a node"))
        tried(process, "".join(lines))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(90)


def tried(process, text):
    pids = [int(pid) for pid in re.findall(r", process (\d+)", text)]
    front = int(re.search(r"^listening on http://127\.0\.0\.1:(\d+)", text, re.M).group(1))
    folder = os.path.dirname(re.search(r"^log: (.*)$", text, re.M).group(1))
    check("three nodes, one address", len(pids) == 3)
    body = json.dumps({"mode": "register", "username": "ann", "password": "long enough"}).encode()
    session = json.loads(request(front, "POST", "/v1/notes/session", {"Content-Type": "application/json"}, body)[1])
    fields = {"Authorization": f"Bearer {session['data']['token']}"}
    note = json.dumps({"body": "kept"}).encode()
    check("a note", request(front, "POST", "/v1/notes", {**fields, "Content-Type": "application/json"}, note)[0] == 201)
    page = request(front, "GET", "/notes", {"Host": f"larder.localhost:{front}"})
    check(f"the pages are served: {page[0]}", page[0] == 200)
    # Affinity goes by the profile: each of the three has some.
    screens = lambda: [request(front, "GET", "/v1/shop/launch", {"Larder-Profile": f"p{number}"})[0] for number in range(30)]
    check("screens of all three", screens() == [200] * 30)
    for pid in pids[:2]:
        os.kill(pid, signal.SIGKILL)
        check("a node is killed: the address goes on", screens() == [200] * 30)
        found = wait("the note", lambda: json.loads(request(front, "GET", "/v1/notes", fields)[1]).get("meta"))
        check("and has the note", found["page"]["total"] == 1)
    process.send_signal(signal.SIGINT)
    check("Ctrl-C ends it in order", process.wait(90) == 0)
    check("its folder is gone", not os.path.exists(folder))
    check("its processes are gone", not any(os.path.exists(f"/proc/{pid}") for pid in pids))
