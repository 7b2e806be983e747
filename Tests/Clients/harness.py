"""Runs the suites of test authors and the examples of the clients' documents; see script/test-harness."""
import argparse, os, pathlib, re, shutil, subprocess, sys, tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "clients"
PYTEST = [sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", "-p", "randomly"]


def run(command, **options):
    status = subprocess.run([str(word) for word in command], **options).returncode
    if status:
        sys.exit(f"{' '.join(str(word) for word in command[:6])} … ended with {status}")


def install(folder):
    """Installs the package as pip does, from a copy: building leaves files behind."""
    shutil.copytree(CLIENTS / "python", folder / "package", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    options = ["--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps", "--no-index"]
    run([sys.executable, "-m", "pip", "install", *options, "--no-build-isolation", folder / "package"])


def examples(document, language):
    """The blocks of code of a document."""
    return re.findall(rf"^```{language}\n(.*?)^```", (CLIENTS / document).read_text(), re.MULTILINE | re.DOTALL)


def write_examples(folder):
    (folder / "test_recipes.py").write_text("\n\n".join(examples("../docs/recipes.md", "python")))
    (folder / "test_readme.py").write_text("\n\n".join(examples("python/README.md", "python")))
    (folder / "readme.test.mjs").write_text("\n".join(examples("js/README.md", "js")))
    shutil.copy(CLIENTS / "js/larder.mjs", folder)


TYPED = """
import {Larder, Refused} from './larder.mjs';
const larder: Larder = await Larder.start({settings: {freshness_ships_s: 60}});
const space = await larder.space({now: '2030-01-05T10:00:00Z', frozen: true});
const answer = await space.get('/v1/ships', {timeoutMs: 500});
const bytes: Uint8Array = answer.bytes;
const count: number = await space.upstream('spacex').count({path: '/v4/ships'});
const weather = await space.stub('weather', undefined, {rules: [{respond: {json: 1}}]});
const left: string = weather.unmapped[0].member;
// @ts-expect-error There is no such option.
await larder.space({noww: 1});
console.log(bytes, count, left, Refused);
"""


def types(folder):
    """The types that script/release makes of the JSDoc, as authors in TypeScript use them (HARN-37)."""
    package = folder / "typed"
    shutil.copytree(CLIENTS / "js", package)
    run(["npm", "run", "--silent", "types"], cwd=package)
    (package / "larder.mjs").unlink()
    (package / "use.mts").write_text(TYPED)
    options = ["--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext"]
    run(["tsc", "--noEmit", "--strict", *options, "--lib", "es2022,dom,dom.iterable", "use.mts"], cwd=package)


def recipes(folder, larder, environment):
    """The recipes, as users of script/release have them: with a program inside the package, and on the path."""
    shutil.copytree(CLIENTS / "python/src/larder_testing", folder / "inside/larder_testing")
    program = folder / "inside/larder_testing/program"
    program.mkdir()
    (program / "larder").symlink_to(larder)
    path = os.pathsep.join([str(program), os.path.dirname(sys.executable), os.environ["PATH"]])
    environment = environment | {"PATH": path, "PYTHONPATH": str(folder / "inside")}
    del environment["LARDER_EXECUTABLE"]
    run([*PYTEST, "-q", folder / "test_recipes.py"], cwd=folder, env=environment)
    for command in examples("../docs/recipes.md", "sh"):
        run(["bash", "-ec", command], cwd=folder, env=environment)
    (folder / "program").symlink_to(program)
    run(["node", "--test", folder / "readme.test.mjs"], cwd=folder, env=environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("times", nargs="?", type=int, default=1)
    parser.add_argument("--larder", default=os.environ.get("LARDER_EXECUTABLE", ROOT / ".build/debug/larder"))
    arguments = parser.parse_args()
    larder = pathlib.Path(arguments.larder).resolve()
    if not larder.exists():
        sys.exit(f"{larder} is missing: script/build")
    # Of the environment, what begins so is a setting of the server.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LARDER_", "PYTEST_"))}
    environment["LARDER_EXECUTABLE"] = str(larder)
    with tempfile.TemporaryDirectory(prefix="larder-harness-") as name:
        folder = pathlib.Path(name)
        install(folder)
        write_examples(folder)
        types(folder)
        node = [path for path in sorted((ROOT / "Tests/Clients/node").glob("*.test.mjs"))]
        suite = [*PYTEST, "-q", "-n", "4", "Tests/Clients/pytest"]
        for _ in range(arguments.times):
            run(suite, cwd=ROOT, env=environment)
            # A space for each worker, as authors have it that start Larder around their runner.
            run([larder, "exec", "--spaces", "4", "--log-level", "error", "--", *suite], cwd=ROOT, env=environment)
            run(["node", "--test", *node], cwd=ROOT, env=environment)
        run([*PYTEST, "-q", folder / "test_readme.py"], cwd=folder, env=environment)
        run(["node", "--test", folder / "readme.test.mjs"], cwd=folder, env=environment)
        recipes(folder, larder, environment)
        run([sys.executable, "-B", ROOT / "Tests/Clients/renderers.py"], env=environment)


if __name__ == "__main__":
    main()
