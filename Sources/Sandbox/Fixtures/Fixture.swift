import Crypto
import Foundation
import HTTPTypes
import JSONValues
import Yams

/// One recorded exchange: the content of a file.
struct Fixture: Sendable, Equatable {
    /// The endings of the names of files with an exchange.
    static let ending = ".http.yaml"

    /// The statuses of final responses that HTTP clients take (RFC 9110 section 15): some APIs send 999.
    static let statuses = 200...999

    /// Where the body of the response is.
    enum Content: Sendable, Equatable {
        case none
        /// JSON without white space between its tokens.
        case json([UInt8])
        case text(String)
        /// The name of a file in the same folder.
        case file(String)
    }

    /// Name of its file.
    let name: String
    let match: FixtureMatch
    let status: Int
    var header: [Field]
    var content: Content
    /// The mode in which it was recorded; nil if a person wrote the file.
    var mode: FixtureMode?
    /// The day on which it was recorded, such as 2026-11-29; nil if that is not known.
    var day: String?
    /// SHA-256 of the body that was recorded, hexadecimal; nil if the body is in a file of its own.
    var digest: String?

    struct Field: Sendable, Equatable {
        let name: String
        let value: String
    }

    /// The number that its name begins with; 0 without one.
    var number: Int { Self.number(of: name) }

    static func number(of name: String) -> Int { Int(name.prefix { $0.isASCII && $0.isNumber }) ?? 0 }

    /// Whether the name of a file is that of an exchange.
    static func isName(_ name: String) -> Bool { name.hasSuffix(ending) && !name.hasPrefix(".") }

    var headerFields: HTTPFields {
        var fields = HTTPFields()
        for field in header {
            if let name = HTTPField.Name(field.name) { fields.append(HTTPField(name: name, value: field.value)) }
        }
        return fields
    }

    /// Returns the recorded response.
    /// - Throws: ``YAMLDefect`` if the file with its body is missing.
    func response(in folder: URL) throws(YAMLDefect) -> FixtureResponse {
        let body: FixtureResponse.Content
        switch content {
        case .none: body = .bytes([])
        case .json(let bytes): body = .bytes(bytes)
        case .text(let text): body = .bytes(Array(text.utf8))
        case .file(let name):
            let url = folder.appending(path: name)
            guard let size = try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize else {
                throw YAMLDefect(line: nil, reason: "there is no file \(name) with its body")
            }
            body = .file(url, size)
        }
        var fields = headerFields
        if case .bytes(let bytes) = body, let digest, digest != Self.digest(of: bytes) {
            // A person has changed the body. The recorded tags and dates would confirm copies of the old one.
            for name in Self.validators { fields[name] = nil }
            fields[.eTag] = "\"edited-\(Self.digest(of: bytes).prefix(16))\""
        }
        let isBodiless = match.line.hasPrefix("HEAD ") || [204, 304].contains(status)
        if !isBodiless { fields[.contentLength] = String(body.count) }
        return FixtureResponse(status: .init(code: status), headerFields: fields, content: body)
    }

    private static let validators = [
        "ETag", "Last-Modified", "Content-MD5", "Digest", "Content-Digest", "Repr-Digest",
    ].compactMap { HTTPField.Name($0) }

    static func digest(of bytes: [UInt8]) -> String { Hexadecimal.text(SHA256.hash(data: bytes)) }

    func hasSameResponse(as other: Fixture) -> Bool {
        guard case .file = content else {
            return status == other.status && header == other.header && content == other.content
        }
        return false
    }
}

/// A file that cannot be used.
struct FixtureDefect: Sendable, Equatable {
    let file: String
    let defect: YAMLDefect

    var text: String { "\(file)\(defect.line.map { " line \($0)" } ?? ""): \(defect.reason)" }

    var json: JSONValue {
        ["file": .string(file), "line": .integerOrNull(defect.line), "reason": .string(defect.reason)]
    }
}

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
            try YAMLMembers(node, only: ["mode", "day", "body_sha256"])
        }
        digest = recorded?["body_sha256"]?.scalar?.string
        day = recorded?["day"]?.scalar?.string
        mode = recorded?["mode"]?.scalar.flatMap { FixtureMode(rawValue: $0.string) }
    }

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
                let start = (node.mark?.line ?? 0) + (node.scalar?.style == .literal ? 1 : 0)
                throw YAMLDefect(line: start + error.line - 1, reason: "json is no JSON: \(error.reason)")
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

    /// Reads header fields. One that occurs several times has a list of values.
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

extension Fixture {
    /// Largest body that is written into the file itself, in bytes.
    static let inline = 1 << 18

    /// The text of its file.
    /// - Throws: The errors of Yams.
    func text() throws -> String {
        var members: [(Node, Node)] = [("request", JSONValue.yaml(match.line))]
        if let rules = match.yaml { members.append((Node("match"), rules)) }
        members.append(("status", JSONValue.integer(status).yaml))
        if !header.isEmpty { members.append(("header", Self.yaml(header))) }
        switch content {
        case .none: break
        case .json(let bytes):
            members.append(("json", JSONValue.yaml(String(decoding: JSONText.indented(bytes), as: UTF8.self))))
        case .text(let text): members.append(("text", JSONValue.yaml(text)))
        case .file(let name): members.append(("file", JSONValue.yaml(name)))
        }
        if let mode {
            let digest = digest.map { [(Node("body_sha256"), JSONValue.yaml($0))] } ?? []
            let day = day.map { [(Node("day"), JSONValue.yaml($0))] } ?? []
            members.append(("recorded", Node([(Node("mode"), JSONValue.yaml(mode.rawValue))] + day + digest)))
        }
        return try serialize(node: Node(members), width: -1, allowUnicode: true)
    }

    private static func yaml(_ header: [Field]) -> Node {
        var members: [(Node, Node)] = []
        for name in header.map(\.name) where !members.contains(where: { $0.0.string == name }) {
            let values = header.filter { $0.name == name }.map { JSONValue.yaml($0.value) }
            members.append((Node(name), values.count == 1 ? values[0] : Node(values)))
        }
        return Node(members)
    }

    /// Returns the name of the file of a request: `003-GET-v4-ships_limit-2.http.yaml`.
    ///
    /// - Parameter line: Without secrets.
    static func name(_ number: Int, _ line: String) -> String {
        let digits = String(number)
        let request = FixtureMatch.Line(line)
        let host = request.origin.split(separator: "/").last.map { [String($0)] } ?? []
        let parts = request.path.split(separator: "?", maxSplits: 1).map(String.init)
        let path = (host + (parts.first ?? "").split(separator: "/").map(String.init)).joined(separator: "-")
        let query = parts.count > 1 ? "_" + parts[1] : ""
        let kept = (path.isEmpty ? "root" : path) + query
        let plain = kept.replacing(/[^A-Za-z0-9._]+/, with: "-").prefix(80)
        return String(repeating: "0", count: max(0, 3 - digits.count)) + "\(digits)-\(request.method)-\(plain)\(ending)"
    }

    /// Returns the name of the separate file for the body.
    ///
    /// - Parameter count: Distinguishes it from other files of the same name.
    func bodyName(ending: String, _ count: Int = 1) -> String {
        name.dropLast(Self.ending.count) + ".body\(count > 1 ? "-\(count)" : "").\(ending)"
    }
}

extension FixtureMatch {
    /// The match as the file has it; nil if it has nothing but the request line.
    fileprivate var yaml: Node? {
        let rules = RequestMatch(header: header, body: body)
        var members = (rules.json.object?.members ?? []).map { (JSONValue.yaml($0.name), $0.value.yaml) }
        if let digest { members.append(("body_sha256", JSONValue.yaml(digest))) }
        return members.isEmpty ? nil : Node(members)
    }
}
