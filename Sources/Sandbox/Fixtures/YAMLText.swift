package import JSONValues
package import Yams

/// Why a YAML text cannot be read, and where.
package struct YAMLDefect: Error, Equatable, CustomStringConvertible {
    /// Longest reason, in characters: names in it may be long.
    private static let longest = 240

    /// From 1; nil for the whole text.
    package let line: Int?
    package let reason: String
    /// Whether the text is no YAML at all.
    package let isSyntax: Bool

    package init(line: Int?, reason: String, isSyntax: Bool = false) {
        (self.line, self.isSyntax) = (line, isSyntax)
        self.reason = reason.count > Self.longest ? reason.prefix(Self.longest) + "…" : reason
    }

    package var description: String { (line.map { "line \($0): " } ?? "") + reason }
}

/// Parses all YAML of the project: the contract, settings, scenarios, recordings, and documents of simulated APIs.
package enum YAMLText {
    /// Returns the root of a text; nil if the text is empty. Plain scalars are not converted.
    ///
    /// - Throws: ``YAMLDefect``, also for a text whose aliases expand to too many values, or that is nested deeper than
    ///   JSON may be. A caller may therefore walk through the whole root.
    package static func root(of text: String) throws(YAMLDefect) -> Node? {
        guard let star = YAMLAliases.star(for: text) else {
            throw YAMLDefect(line: nil, reason: "it has every character for private use")
        }
        var aliases = YAMLAliases(star: star)
        do {
            // The parser retains the anchors, which nodes reference weakly.
            let parser = try Parser(yaml: aliases.hidden(in: text), resolver: .basic)
            return try withExtendedLifetime(parser) {
                try parser.singleRoot().map { try aliases.resolved($0, depth: 0).node }
            }
        } catch let defect as YAMLDefect {
            throw defect
        } catch {
            throw YAMLDefect(parsing: error, aliases)
        }
    }
}

/// Replaces aliases by their values, up to a bound.
///
/// Yams compares the keys of mappings with their aliases expanded, so a few lines can occupy it for ever. It releases a
/// chain of aliases by recursion, so some thousand exhaust the stack. Therefore Yams gets a text without aliases, in
/// which another character replaces each `*`.
private struct YAMLAliases {
    /// Number of values that all aliases together may add.
    private static let mostRepeated = 10_000

    struct Value {
        let node: Node
        /// The number of values in it, itself included.
        var count = 1
        /// Levels below it.
        var height = 0
    }

    private let star: Unicode.Scalar
    private var anchored: [String: Value] = [:]
    private var left = Self.mostRepeated

    init(star: Unicode.Scalar) { self.star = star }

    /// Returns a character for private use that the text does not contain; nil if it contains all of them.
    static func star(for text: String) -> Unicode.Scalar? {
        guard text.utf8.contains(UInt8(ascii: "*")) else { return "\u{E000}" }
        return (0xE000...0xF8FF).lazy.compactMap(Unicode.Scalar.init).first { !text.unicodeScalars.contains($0) }
    }

    func hidden(in text: String) -> String { replacing("*", by: star, in: text) }

    func shown(in text: String) -> String { replacing(star, by: "*", in: text) }

    private func replacing(_ old: Unicode.Scalar, by new: Unicode.Scalar, in text: String) -> String {
        guard text.unicodeScalars.contains(old) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == old ? new : $0 }))
    }

    mutating func resolved(_ node: Node, depth: Int) throws(YAMLDefect) -> Value {
        guard depth <= JSONParser.maximumDepth else { throw Self.tooDeep(node) }
        let value: Value
        switch node {
        case .scalar(let scalar): value = try resolved(scalar, node, depth: depth)
        case .sequence(let sequence):
            var items: [Value] = []
            for item in sequence { items.append(try resolved(item, depth: depth + 1)) }
            let nodes = items.map(\.node)
            value = Value(.sequence(.init(nodes, sequence.tag, sequence.style, sequence.mark)), over: items)
        case .mapping(let mapping):
            var (items, pairs, names) = ([Value](), [(Node, Node)](), Set<String>())
            for (key, item) in mapping {
                let name = try resolved(key, depth: depth + 1)
                if let text = name.node.scalar?.string, !names.insert(text).inserted {
                    throw YAMLDefect(line: key.mark?.line, reason: "it has \(text) twice")
                }
                items += [name, try resolved(item, depth: depth + 1)]
                pairs.append((items[items.count - 2].node, items[items.count - 1].node))
            }
            value = Value(.mapping(.init(pairs, mapping.tag, mapping.style, mapping.mark)), over: items)
        case .alias: throw YAMLDefect(line: node.mark?.line, reason: "an alias of nothing")
        }
        if let anchor = node.anchor { anchored[anchor.rawValue] = value }
        return value
    }

    private mutating func resolved(_ scalar: Node.Scalar, _ node: Node, depth: Int) throws(YAMLDefect) -> Value {
        guard scalar.style == .plain, scalar.string.unicodeScalars.first == star else {
            var scalar = scalar
            scalar.string = shown(in: scalar.string)
            return Value(node: .scalar(scalar))
        }
        let name = shown(in: String(scalar.string.unicodeScalars.dropFirst()))
        guard let value = anchored[name] else {
            throw YAMLDefect(line: node.mark?.line, reason: "there is no &\(name) before *\(name)")
        }
        left -= value.count
        guard left >= 0 else {
            throw YAMLDefect(line: node.mark?.line, reason: "its aliases stand for too many values")
        }
        guard depth + value.height <= JSONParser.maximumDepth else { throw Self.tooDeep(node) }
        return value
    }

    private static func tooDeep(_ node: Node) -> YAMLDefect { YAMLDefect(line: node.mark?.line, reason: tooDeep) }

    static let tooDeep = "it is nested deeper than \(JSONParser.maximumDepth)"
}

extension YAMLAliases.Value {
    fileprivate init(_ node: Node, over items: [YAMLAliases.Value]) {
        self.node = node
        count = items.reduce(1) { $0 + $1.count }
        height = items.reduce(0) { max($0, $1.height + 1) }
    }
}

extension YAMLDefect {
    /// - Parameter aliases: The aliases of the parsed text.
    fileprivate init(parsing error: any Error, _ aliases: YAMLAliases) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            // libyaml has a higher limit of its own, with this message.
            let isDeep = problem.hasPrefix("Maximum nesting level")
            let reason = isDeep ? YAMLAliases.tooDeep : aliases.shown(in: problem)
            self.init(line: mark.line, reason: reason, isSyntax: !isDeep)
        case .duplicatedKeysInMapping(let names, let context):
            let names = Set(names.map(aliases.shown)).sorted().joined(separator: ", ")
            self.init(line: context.mark.line, reason: "it has \(names) twice")
        case .reader(let problem, _, _, _): self.init(line: nil, reason: problem, isSyntax: true)
        default: self.init(line: nil, reason: "it is no YAML", isSyntax: true)
        }
    }
}

extension JSONValue {
    /// Parses YAML, of which JSON is a part. Plain scalars are typed as in JSON; others, such as a time or `yes`, are
    /// strings.
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

    /// Whether a text is a number of JSON.
    private static func isNumber(_ text: String) -> Bool {
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
            case .number? = JSONValue(json: text.utf8)
        else { return false }
        return true
    }

    /// The value as YAML that is parsed as the same value.
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

    /// Returns a string as YAML: plain if it is parsed as a string, as a block if it has several lines.
    static func yaml(_ text: String) -> Node {
        if text.contains("\n") { return Node(text, .implicit, .literal) }
        let plain = Node.Scalar(text, .implicit, .plain)
        return Node(text, .implicit, value(of: plain) == .string(text) ? .any : .doubleQuoted)
    }
}
