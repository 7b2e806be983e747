"""Runs the generators as docs/contract.md says; a warning that something is left out is an error."""
import concurrent.futures, os, re, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# What openapi-generator says of every document of OpenAPI 3.1, and of names that are words of a language. "null" is the
# name of a form, which has none: its fields are parameters.
HARMLESS = re.compile(
    r"OpenAPI 3\.1 support is still in beta|\(reserved word\) cannot be used as model name\. Renamed to"
    r"|Failed to get the schema name: null|Could not compute datatypeWithEnum from (kotlin\.)?[Ss]tring, null"
)


def commands(folder, base):
    """The commands of docs/contract.md, by the name of their program, for a server and a folder of this check."""
    with open(f"{ROOT}/docs/contract.md") as file:
        section = file.read().split("## 13. Generating a client")[1]
    block = re.search(r"```sh\n(.*?)```", section, re.S)[1].replace("\\\n", " ")
    block = block.replace("http://127.0.0.1:8080", base).replace("Tests/Clients/", f"{HERE}/")
    return [line for line in block.splitlines() if line and not line.startswith("pip ")]


def run(command, folder):
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    result = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True,
                            env={**os.environ, "PATH": path})
    text = result.stdout + result.stderr
    loud = [line for line in text.splitlines() if re.search(r"WARN|ERROR|Unable|omitted|Exception", line)]
    loud = [line for line in loud if not HARMLESS.search(line)]
    if result.returncode or loud:
        raise SystemExit(f"{command}\nended with {result.returncode}:\n" + "\n".join(loud or [text[-3000:]]))


def generate(folder, base):
    """Runs the commands: first the download, then the generators, two at a time."""
    download, *generators = commands(folder, base)
    run(download, folder)
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for command, outcome in [(command, pool.submit(run, command, folder)) for command in generators]:
            outcome.result()
            print(f"no warning: {' '.join(command.split()[:6])} …", flush=True)
