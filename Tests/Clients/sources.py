"""What the generators of Kotlin and Swift write: a field for each member, and none without a type."""
import glob, os, re


def check_kotlin(folder, contract):
    """No Kotlin compiler is needed: the sources are read."""
    models = f"{folder}/kotlin/src/main/kotlin/org/openapitools/client/models"
    check(models, "kt", r'@Json\(name = "([^"]+)"\)\s+val `?\w+`?: (\S+)', contract)
    check_offsets(f"{folder}/kotlin/src/main/kotlin/org/openapitools/client/apis", "kt", "null")


def check_swift(folder, contract):
    """Beside this, the sources are compiled."""
    check(f"{folder}/swift6/Sources/OpenAPIClient/Models", "swift", None, contract)
    check_offsets(f"{folder}/swift6/Sources/OpenAPIClient/APIs", "swift", "nil")


def check_offsets(apis, suffix, none):
    """A page is named by a cursor or an offset: no function sends an offset unless it is told to."""
    standards = []
    for path in glob.glob(f"{apis}/*.{suffix}"):
        with open(path) as file:
            standards += re.findall(r"\boffset: [\w.]+\? = (\w+)", file.read())
    assert len(standards) >= 20 and set(standards) == {none}, f"{suffix}: offsets are {sorted(set(standards))}"


def check(models, suffix, field, contract):
    for name, schema in contract.schemas.items():
        if "properties" not in schema:
            continue
        path = f"{models}/{name}.{suffix}"
        assert os.path.exists(path), f"{suffix}: there is no {name}"
        with open(path) as file:
            text = file.read()
        if field:
            found = dict(re.findall(field, text))
            weak = [member for member, kind in found.items() if re.search(r"\bAny\b", kind)]
        else:
            keys = re.search(r"enum CodingKeys: [^{]+\{(.*?)\n    \}", text, re.S)
            cases = re.findall(r'case `?(\w+)`?(?: = "([^"]+)")?', keys[1]) if keys else []
            found = {raw or case for case, raw in cases}
            weak = re.findall(r"public (?:private\(set\) )?var (\w+): (?:\[\w*:? ?)?(?:Any|JSONValue|AnyCodable)\b", text)
        assert set(found) == set(schema["properties"]), f"{suffix}: {name} has {sorted(found)}"
        assert not weak, f"{suffix}: {name} has no type for {weak}"
    inline = [os.path.basename(p) for p in glob.glob(f"{models}/*") if re.search(r"Inline|_?(OneOf|AnyOf)", p)]
    assert not inline, f"{suffix}: {inline}"
