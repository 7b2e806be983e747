"""Generates clients from the contract of a running server and tries them; see script/test-clients."""
import argparse, glob, json, os, shutil, subprocess, sys, tempfile, urllib.request

sys.dont_write_bytecode = True
import yaml

from check_python import check_client, check_models
from contract import Contract, with_unknown
from generators import HERE, ROOT, generate
from sources import check_kotlin, check_swift
from walk import Walk

TSC = ["tsc", "--target", "es2020", "--module", "commonjs", "--lib", "es2020,dom", "--strict", "--noImplicitAny", "false"]


def check_typescript(folder, base, token, samples):
    shutil.copy(f"{HERE}/typescript.ts", folder)
    with open(f"{folder}/samples.json", "w") as file:
        json.dump([{**sample, "later": with_unknown(sample["value"])} for sample in samples], file)
    for command in ([*TSC, "--outDir", "js", "typescript.ts"], ["node", "js/typescript.js", base, token, "samples.json"]):
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"typescript-fetch: {' '.join(command[:2])}\n{(result.stdout + result.stderr)[:3000]}")
        print(result.stdout, end="")


def check_swift_compiles(folder):
    files = glob.glob(f"{folder}/swift6/Sources/**/*.swift", recursive=True)
    result = subprocess.run(["swiftc", "-typecheck", "-swift-version", "6", *files], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"swift6: {result.stderr[:3000]}")


def check(base, folder):
    generate(folder, base)
    with open(f"{folder}/openapi.yaml") as file:
        contract = Contract(yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    walk = Walk(base, contract)
    samples = walk.all() + list(contract.examples())
    if missing := list(walk.missing()):
        sys.exit(f"screens that the walk does not see: {', '.join(missing)}")
    samples = [{name: sample[name] for name in ("place", "schema", "value")} for sample in samples if sample["schema"]]
    check_models(folder, samples)
    print(f"Python: {len(samples)} values, {len(walk.responses)} of them from the server")
    print(f"openapi-python-client: {check_client(folder, base, walk, contract)} screens requested")
    check_typescript(folder, base, walk.tokens["ships"], samples)
    check_kotlin(folder, contract)
    check_swift(folder, contract)
    check_swift_compiles(folder)
    print(f"kotlin, swift6: {len(contract.schemas)} schemas with all their members; swift6 passes the compiler")


def only_walk(base, apps, controls):
    """Walks through the screens of a server that runs already."""
    with urllib.request.urlopen(f"{base}/openapi.yaml", timeout=60) as response:
        contract = Contract(yaml.load(response, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    walk = Walk(base, contract, apps, controls)
    failed = [(one["place"], one["value"]) for one in walk.all() if one["status"] >= 500 and one["status"] != 501]  # 501: a tool is missing
    if failed or (missing := list(walk.missing())):
        sys.exit(f"failed: {failed}; screens that the walk does not see: {', '.join(missing) if not failed else '-'}")
    print(f"{len(walk.responses)} responses")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--larder", default=os.environ.get("LARDER_EXECUTABLE", f"{ROOT}/.build/debug/larder"))
    parser.add_argument("--base", help="a running server: only walk through its screens")
    parser.add_argument("--apps", default="disk,pdf,ships,shop,notes", help="what that server serves")
    parser.add_argument("--controls", help="address of the controls of its upstreams, such as http://…/_sandbox")
    options = parser.parse_args()
    if options.base:
        return only_walk(options.base, options.apps.split(","), options.controls or "")
    larder = options.larder
    if not os.path.exists(larder):
        sys.exit(f"{larder} is missing: script/build")
    with tempfile.TemporaryDirectory(prefix="larder-clients-") as folder:
        command = [larder, "serve", "--sandbox", "--http-port", "0", "--log-level", "error"]
        command += ["--data-directory", f"{folder}/data"]
        # Of the environment, what begins so is a setting of the server.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("LARDER_")}
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            line = next((line for line in server.stdout if line.startswith("listening on ")), None)
            if line is None:
                sys.exit("the server did not start")
            check(line.split()[-1], folder)
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
