package import Yams

extension JSONValue {
    /// Reads YAML, of which JSON is a part. Plain scalars are those of JSON; what JSON does not have is a string, such
    /// as a time and `yes`.
    package init(yaml text: String) throws(YAMLDefect) { self = try Self(try Self.node(of: text)) }

    /// Returns the root of a text that has one.
    static func node(of text: String) throws(YAMLDefect) -> Node {
        guard let root = try YAMLText.root(of: text) else { throw YAMLDefect(line: nil, reason: "it is empty") }
        return root
    }

    /// Reads a part of a text.
    package init(_ node: Node) throws(YAMLDefect) {
        switch node {
        case .scalar(let scalar): self = Self.value(of: scalar)
        case .sequence(let sequence):
            var values: [JSONValue] = []
            for item in sequence { values.append(try JSONValue(item)) }
            self = .array(values)
        case .mapping(let mapping):
            var object = JSONObject()
            for (key, item) in mapping {
                guard let name = key.scalar?.string else {
                    throw YAMLDefect(line: key.mark?.line, reason: "the name of a member is no text")
                }
                object.members.append(.init(name: name, value: try JSONValue(item)))
            }
            self = .object(object)
        case .alias: throw YAMLDefect(line: node.mark?.line, reason: "an alias of nothing")
        }
    }

    private static func value(of scalar: Node.Scalar) -> JSONValue {
        guard scalar.style == .plain else { return .string(scalar.string) }
        switch scalar.string {
        case "", "~", "null": return .null
        case "true": return true
        case "false": return false
        case let text: return isNumber(text) ? .number(text) : .string(text)
        }
    }

    /// Whether JSON has a text as a number.
    private static func isNumber(_ text: String) -> Bool {
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
            case .number? = try? JSONParser.parse(Array(text.utf8))
        else { return false }
        return true
    }

    /// The value as YAML that is read as the same value.
    var yaml: Node {
        switch self {
        case .null: Node("null", .implicit, .plain)
        case .bool(let value): Node(value ? "true" : "false", .implicit, .plain)
        case .number(let spelling): Node(spelling, .implicit, .plain)
        case .string(let text): Self.yaml(text)
        case .array(let values): Node(values.map(\.yaml))
        case .object(let object): Node(object.members.map { (Self.yaml($0.name), $0.value.yaml) })
        }
    }

    /// Returns a string as YAML: as it is, if that is read as a string, on lines of its own if it has several.
    static func yaml(_ text: String) -> Node {
        if text.contains("\n") { return Node(text, .implicit, .literal) }
        let plain = Node.Scalar(text, .implicit, .plain)
        return Node(text, .implicit, value(of: plain) == .string(text) ? .any : .doubleQuoted)
    }
}
