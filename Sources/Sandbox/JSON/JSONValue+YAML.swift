package import Yams

/// Why a YAML text cannot be read, and where.
package struct YAMLDefect: Error, Equatable, CustomStringConvertible {
    /// From 1; nil for the whole text.
    package let line: Int?
    package let reason: String

    package init(line: Int?, reason: String) { (self.line, self.reason) = (line, reason) }

    package var description: String { (line.map { "line \($0): " } ?? "") + reason }
}

/// The one reader of YAML: of the contract, settings, scenarios, recordings, and documents of simulated APIs.
package enum YAMLText {
    /// Values that aliases may add to those that the text itself has.
    private static let mostRepeated = 10_000

    /// Returns the root of a text; nil if it is empty. Nothing is made of plain scalars, which is up to what is read.
    ///
    /// - Throws: ``YAMLDefect``, also for a text whose aliases stand for more than it has itself, or that is nested
    ///   deeper than JSON may be: whoever reads the root may follow all of it.
    package static func root(of text: String) throws(YAMLDefect) -> Node? {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text, .basic)
        } catch {
            throw YAMLDefect(parsing: error)
        }
        // Each value has a byte of the text at least, unless it is one of an alias.
        var left = text.utf8.count + mostRepeated
        if let root { try check(root, left: &left, depth: 0) }
        return root
    }

    private static func check(_ node: Node, left: inout Int, depth: Int) throws(YAMLDefect) {
        left -= 1
        guard left > 0 else { throw YAMLDefect(line: nil, reason: "its aliases stand for too many values") }
        guard depth <= JSONParser.maximumDepth else {
            throw YAMLDefect(line: node.mark?.line, reason: "nested deeper than \(JSONParser.maximumDepth)")
        }
        switch node {
        case .sequence(let sequence): for item in sequence { try check(item, left: &left, depth: depth + 1) }
        case .mapping(let mapping):
            for (key, item) in mapping {
                try check(key, left: &left, depth: depth + 1)
                try check(item, left: &left, depth: depth + 1)
            }
        case .scalar, .alias: break
        }
    }
}

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

extension YAMLDefect {
    init(parsing error: any Error) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            self.init(line: mark.line, reason: problem)
        case .duplicatedKeysInMapping(let names, let context):
            let names = Set(names).sorted().joined(separator: ", ")
            self.init(line: context.mark.line, reason: "it has \(names) twice")
        default: self.init(line: nil, reason: "it is no YAML")
        }
    }
}
