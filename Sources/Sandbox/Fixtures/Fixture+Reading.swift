import Foundation
import HTTPTypes
import Yams

extension Fixture {
    private static let members = ["request", "match", "status", "header", "json", "text", "file", "recorded"]

    /// Reads a file.
    /// - Throws: ``YAMLDefect`` with the line that cannot be used.
    init(_ text: String, name: String) throws(YAMLDefect) {
        let members = try YAMLMembers(try JSONValue.node(of: text), only: Self.members)
        self.name = name
        status = try Self.status(try members.required("status"))
        match = try FixtureMatch(members)
        header = try members["header"].map { (node) throws(YAMLDefect) in try Self.fields(node) } ?? []
        content = try Self.content(members)
        let recorded = try members["recorded"].map { (node) throws(YAMLDefect) in
            try YAMLMembers(node, only: ["mode", "body_sha256"])
        }
        digest = recorded?["body_sha256"]?.scalar?.string
        mode = recorded?["mode"]?.scalar.flatMap { FixtureMode(rawValue: $0.string) }
    }

    /// Reads the status of a response.
    static func status(_ node: Node) throws(YAMLDefect) -> Int {
        guard let code = node.integer, statuses.contains(code) else {
            throw node.refusal("status", accepted: "\(statuses.lowerBound) to \(statuses.upperBound)")
        }
        return code
    }

    private static func content(_ members: YAMLMembers) throws(YAMLDefect) -> Content {
        let given = ["json", "text", "file"].compactMap { name in members[name].map { (name, $0) } }
        guard let (kind, node) = given.first else { return .none }
        guard given.count == 1 else {
            throw YAMLDefect(line: given[1].1.mark?.line, reason: "a response has one of json, text and file")
        }
        guard let text = node.scalar?.string else { throw node.refusal(kind, accepted: "a text") }
        switch kind {
        case "json":
            do {
                _ = try JSONParser.parse(Array(text.utf8))
            } catch {
                let before = text.utf8.prefix(error.offset).count { $0 == UInt8(ascii: "\n") }
                let start = (node.mark?.line ?? 0) + (node.scalar?.style == .literal ? 1 : 0)
                throw YAMLDefect(line: start + before, reason: "json is no JSON: \(error.reason)")
            }
            return .json(JSONText.compact(Array(text.utf8)))
        case "text": return .text(text)
        default:
            guard !text.isEmpty, !text.contains("/"), !text.hasPrefix(".") else {
                throw node.refusal("file", accepted: "the name of a file in the same folder")
            }
            return .file(text)
        }
    }

    /// Reads header fields; one that is there several times has a list of values.
    static func fields(_ node: Node) throws(YAMLDefect) -> [Field] {
        guard let mapping = node.mapping else { throw node.refusal("header", accepted: "names with values") }
        var fields: [Field] = []
        for (key, value) in mapping {
            guard let name = key.string, HTTPField.Name(name) != nil else {
                throw YAMLDefect(line: key.mark?.line, reason: "\(key.string ?? "") is no name of a header field")
            }
            for item in value.sequence.map(Array.init) ?? [value] {
                guard let text = item.scalar?.string, !text.contains("\n") else {
                    throw item.refusal("header.\(name)", accepted: "a text in one line, or a list of them")
                }
                fields.append(Field(name: name, value: text))
            }
        }
        return fields
    }
}

extension FixtureMatch {
    fileprivate init(_ members: YAMLMembers) throws(YAMLDefect) {
        let request = try members.required("request")
        let parts = (request.scalar?.string ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, HTTPRequest.Method(String(parts[0])) != nil,
            parts[1].hasPrefix("/") || parts[1].hasPrefix("http")
        else { throw request.refusal("request", accepted: "a method and a path or URL, such as GET /v4/ships") }
        self.init(line: "\(parts[0]) \(parts[1])")
        guard let match = members["match"] else { return }
        let given = try YAMLMembers(match, only: ["header", "body", "body_sha256"])
        let rules = ["header", "body"].compactMap { name in given[name].map { (name, $0) } }
        var object = JSONObject()
        for (name, node) in rules { object[name] = try JSONValue(node) }
        do {
            let rules = try RequestMatch(.object(object))
            (header, body) = (rules.header, rules.body)
        } catch {
            throw YAMLDefect(line: match.mark?.line, reason: "match: \(error.detail)")
        }
        digest = given["body_sha256"]?.scalar?.string
    }
}

/// The members of a mapping; those that are not known are refused.
struct YAMLMembers {
    private let nodes: [String: Node]
    private let line: Int?

    init(_ node: Node, only names: [String]) throws(YAMLDefect) {
        guard let mapping = node.mapping else {
            throw YAMLDefect(line: node.mark?.line, reason: "members are expected: \(names.joined(separator: ", "))")
        }
        line = node.mark?.line
        var nodes: [String: Node] = [:]
        for (key, value) in mapping {
            guard let name = key.string, names.contains(name) else {
                let accepted = names.joined(separator: ", ")
                throw YAMLDefect(line: key.mark?.line, reason: "\(key.string ?? "?") is unknown; accepted: \(accepted)")
            }
            nodes[name] = value
        }
        self.nodes = nodes
    }

    subscript(_ name: String) -> Node? { nodes[name] }

    func required(_ name: String) throws(YAMLDefect) -> Node {
        guard let node = nodes[name] else { throw YAMLDefect(line: line, reason: "\(name) is missing") }
        return node
    }
}

extension Node {
    var integer: Int? { scalar.flatMap { Int($0.string) } }

    func refusal(_ name: String, accepted: String) -> YAMLDefect {
        let shown = scalar.map { "'\($0.string.prefix(60))'" } ?? "no text"
        return YAMLDefect(line: mark?.line, reason: "\(name) is \(shown); accepted: \(accepted)")
    }
}
