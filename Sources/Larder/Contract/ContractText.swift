import Foundation
import JSONValues
import Screens
import Synchronization
import Yams

/// The texts of a program's contract, each made at its first use.
final class Contract: Sendable {
    private let apps: AppList
    private let made = Mutex<(document: ContractDocument?, texts: [String: PreparedBytes])>((nil, [:]))

    init(_ apps: AppList) { self.apps = apps }

    /// Returns the contract as YAML or JSON, of all routes or of those with a tag; nil if there is no such tag.
    ///
    /// - Throws: ``ContractDefect``, which a test finds; the errors of Yams.
    func text(of tag: String?, _ format: ContractRoutes.Format) throws -> PreparedBytes? {
        let (document, known) = try made.withLock { made in
            let document = try made.document ?? apps.contract()
            made.document = document
            return (document, made.texts["\(format) \(tag ?? "")"])
        }
        if let tag, !document.tags.contains(tag) { return nil }
        if let known { return known }
        let root = try tag.map(document.part) ?? document.root
        let text =
            switch format {
            case .yaml: PreparedBytes(Data(try root.yamlText.utf8), type: MediaType.yaml)
            case .json: PreparedBytes(Data(root.serialized()), type: MediaType.json)
            }
        made.withLock { $0.texts["\(format) \(tag ?? "")"] = text }
        return text
    }

    /// The tags for which there are documents.
    ///
    /// - Throws: ``ContractDefect``.
    func tags() throws -> [String] {
        _ = try text(of: nil, .json)
        return made.withLock { $0.document?.tags ?? [] }
    }
}

extension AppList {
    /// Returns the contract of a program that has these apps.
    ///
    /// - Throws: ``ContractDefect``.
    func contract() throws(ContractDefect) -> ContractDocument {
        let server = ["screens", "web"].map(EmbeddedContract.text)
        var forms = ScreenForms()
        for type in types { forms.add(type) }
        return try ContractDocument(
            ContractSources(
                server: server,
                apps: types.map { ($0.contract, $0.declarations) },
                codes: problems,
                forms: forms,
                lists: ["apps": types.map { $0.name }, "upstreams": upstreams.map(\.name)]
            )
        )
    }
}

extension JSONValue {
    /// The value as YAML. Small objects and lists are on one line. Strings that another parser of YAML might read as
    /// another type are quoted.
    ///
    /// - Throws: the errors of Yams.
    var yamlText: String {
        get throws { try Yams.serialize(node: yamlNode, indent: 2, width: 120, allowUnicode: true) }
    }

    private var yamlNode: Node {
        switch self {
        case .null: return Node("null", .implicit, .plain)
        case .bool(let value): return Node(value ? "true" : "false", .implicit, .plain)
        case .number(let spelling): return Node(spelling, .implicit, .plain)
        case .string(let text): return Self.scalar(text)
        case .array(let values):
            return Node(values.map(\.yamlNode), .implicit, isShort ? .flow : .block)
        case .object(let object):
            let pairs = object.members.map { (Self.scalar($0.name), $0.value.yamlNode) }
            return Node(pairs, .implicit, isShort ? .flow : .block)
        }
    }

    private static func scalar(_ text: String) -> Node {
        if text.contains("\n") { return Node(text, .implicit, .literal) }
        let isPlain = text.first.map { $0.isLetter || $0 == "/" || $0 == "$" } ?? false
        return Node(text, .implicit, isPlain && !words.contains(text.lowercased()) ? .plain : .singleQuoted)
    }

    /// Words that YAML 1.1 does not parse as strings.
    private static let words: Set = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]

    /// Whether it is a list of words, or has no objects within objects and fits on one line.
    private var isShort: Bool {
        if let items = array, !items.isEmpty, items.allSatisfy({ ($0.string ?? "\n").contains("\n") == false }) {
            return true
        }
        return (oneLine(depth: 0) ?? .max) <= 72
    }

    /// Returns the number of its characters on one line; nil if it is nested too deep or has texts of several lines.
    private func oneLine(depth: Int) -> Int? {
        switch self {
        case .null, .bool: return 5
        case .number(let spelling): return spelling.count
        case .string(let text): return text.contains("\n") ? nil : text.count
        case .array(let values):
            return depth > 1
                ? nil
                : values.reduce(2) { sum, value in
                    sum.flatMap { sum in value.oneLine(depth: depth + 1).map { sum + $0 + 2 } }
                }
        case .object(let object):
            guard depth < 2 else { return nil }
            return object.members.reduce(2) { sum, member in
                sum.flatMap { sum in member.value.oneLine(depth: depth + 1).map { sum + $0 + member.name.count + 4 } }
            }
        }
    }
}
