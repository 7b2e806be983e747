"""What the two Python generators make of the values, and the client of one of them against the server."""
import enum, importlib, inspect, json, os, re, sys, typing, urllib.parse

from contract import comparable, with_unknown


def untyped(value):
    """Members that openapi-python-client keeps aside because it has no field for them."""
    if isinstance(value, list):
        return [name for item in value for name in untyped(item)]
    fields = getattr(type(value), "__attrs_attrs__", ())
    own = list(getattr(value, "additional_properties", {}))
    return own + [name for f in fields if f.name != "additional_properties" for name in untyped(getattr(value, f.name))]


def check_models(folder, samples):
    """Each value is read into typed fields, all of it, and so is the same value with members of a later version."""
    sys.path.insert(0, folder)
    attrs, pydantic = importlib.import_module("larder_client.models"), importlib.import_module("larder_models")
    for sample in samples:
        place, name, value = sample["place"], sample["schema"], sample["value"]
        typed = getattr(attrs, name).from_dict(value)
        assert untyped(typed) == [], f"{place}: {name} has no field for {untyped(typed)}"
        assert comparable(typed.to_dict()) == comparable(value), f"{place}: {name} of openapi-python-client differs"
        later = with_unknown(value)
        assert comparable(getattr(attrs, name).from_dict(later).to_dict()) == comparable(value), place
        for given in (value, later):
            model = getattr(pydantic, name).model_validate(given)
            dumped = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
            assert comparable(dumped) == comparable(value), f"{place}: {name} of datamodel-code-generator differs"


def check_client(folder, base, walk, contract):
    """The generated client requests every screen of the walk and gets the type of the screen."""
    from larder_client import models

    count = pages = 0
    for response in walk.responses:
        if response["method"] != "get" or response["status"] != 200 or not response["schema"]:
            continue
        got = request(folder, base, walk, contract, response["target"])
        expected = getattr(models, response["schema"])
        assert isinstance(got.parsed, expected), f"{response['place']}: {type(got.parsed)}, not {expected}"
        if "page" in response["value"].get("meta", {}):
            assert isinstance(got.parsed.data.items, list) and got.parsed.links.self_, response["place"]
            assert got.parsed.meta.page.count == len(got.parsed.data.items), response["place"]
            pages += check_pages(folder, base, walk, contract, response["target"])
        count += 1
    assert pages > 9, f"only {pages} further pages"
    return count


def request(folder, base, walk, contract, target, **further):
    """Sends the request for a target by the function that was generated for it."""
    from larder_client import AuthenticatedClient, Client

    parts = urllib.parse.urlsplit(target)
    template, operation = contract.operation("get", parts.path)
    places = dict(zip(template.split("/"), parts.path.split("/")))
    values = {name[1:-1]: urllib.parse.unquote(value) for name, value in places.items() if name.startswith("{")}
    values |= dict(urllib.parse.parse_qsl(parts.query))
    kinds = {p["name"]: p["schema"].get("type") for p in contract.parameters(template, operation)}
    read = {"integer": int, "number": float, "boolean": lambda text: text in ("", "1", "true")}
    arguments = {name: read.get(kinds[name], str)(value) for name, value in values.items()}
    app = parts.path.split("/")[2] if parts.path.count("/") > 1 else ""
    token = walk.tokens.get(app)
    client = AuthenticatedClient(base, token) if token else Client(base)
    send = function(folder, operation).sync_detailed
    known, named = inspect.signature(send).parameters, {}
    for name, value in (arguments | further).items():
        # A parameter whose name Python has itself, such as `type`, ends with an underscore there.
        name = name if name in known else f"{name}_"
        choices = [kind for kind in typing.get_args(known[name].annotation) if issubclass(kind, enum.Enum)]
        named[name] = choices[0](value) if choices else value
    return send(client=client, **named)


def check_pages(folder, base, walk, contract, target):
    """Follows the cursors of a list from row to row, three times; everything else is left to the generated defaults."""
    if re.search(r"[?&](limit|cursor|offset)=", target):
        return 0
    page, seen = request(folder, base, walk, contract, target, limit=1), []
    while len(seen) < 3:
        assert page.status_code == 200, f"{target}: {page.content[:300]}"
        rows = json.loads(page.content)["data"]["items"]
        assert len(rows) <= 1 and not (rows and rows[0] in seen), f"{target}: a row comes twice"
        seen += rows
        following = json.loads(page.content)["links"]["next"]
        if not following:
            break
        page = request(folder, base, walk, contract, following)
    return max(0, len(seen) - 1)


def function(folder, operation):
    """The module of an operation; words of its name are divided by underscores there."""
    tag, name = operation["tags"][0], operation["operationId"].lower()
    files = [file.removesuffix(".py") for file in os.listdir(f"{folder}/larder_client/api/{tag}")]
    found = next(file for file in files if file.replace("_", "") == name)
    return importlib.import_module(f"larder_client.api.{tag}.{found}")
