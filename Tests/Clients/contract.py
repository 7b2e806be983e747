"""openapi.yaml as the checks read it, and the values that clients have to understand."""
import copy, re

METHODS = ("get", "post", "put", "patch", "delete")


class Contract:
    def __init__(self, document):
        self.document = document
        self.schemas = document["components"]["schemas"]

    def resolved(self, value):
        while "$ref" in value:
            *_, kind, name = value["$ref"].split("/")
            value = self.document["components"][kind][name]
        return value

    def operations(self):
        """Method, path and description of each operation of Larder's own."""
        for path, item in self.document["paths"].items():
            if not item.get("x-larder-mount"):
                for method in METHODS:
                    if method in item:
                        yield method, path, item[method]

    def parameters(self, path, operation):
        shared = self.document["paths"][path].get("parameters", [])
        return [self.resolved(parameter) for parameter in shared + operation.get("parameters", [])]

    def schema(self, operation, status, media_type="application/json"):
        """The name of the schema of a response; None if it has no body of that type, or one without a name."""
        if str(status) not in operation["responses"]:
            raise SystemExit(f"{operation['operationId']} does not describe the status {status}")
        content = self.resolved(operation["responses"][str(status)]).get("content", {})
        return content.get(media_type, {}).get("schema", {}).get("$ref", "").split("/")[-1] or None

    def operation(self, method, path):
        """The template and the description of the operation that serves a path; the most literal one wins."""
        found = []
        for own, template, operation in self.operations():
            pattern = "/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in template.split("/"))
            if own == method and re.fullmatch(pattern, path):
                found.append((template.count("{"), template, operation))
        return min(found, key=lambda entry: entry[0])[1:] if found else (None, None)

    def examples(self):
        """Every example of a response with a named schema."""
        for method, path, operation in self.operations():
            for status, response in operation["responses"].items():
                for media_type, media in self.resolved(response).get("content", {}).items():
                    name = media.get("schema", {}).get("$ref", "").split("/")[-1]
                    for key, example in media.get("examples", {}).items() if name else ():
                        yield {"place": f"{method} {path} {status} {key}", "schema": name, "value": self.resolved(example)["value"]}


def with_unknown(value):
    """The same value with a member in each object that no version of the contract has."""
    if isinstance(value, dict):
        return {**{name: with_unknown(member) for name, member in value.items()}, "unknown_member": {"is": ["new"]}}
    return [with_unknown(item) for item in value] if isinstance(value, list) else value


def comparable(value):
    """A value without what the same value may be written with or without: nulls, and the form of a time."""
    if isinstance(value, dict):
        return {name: comparable(member) for name, member in value.items()
                if member is not None and name != "unknown_member"}
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        return re.sub(r"(\.0+)?(Z|\+00:00)$", "", value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else copy.copy(value)
