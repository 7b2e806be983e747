import Foundation
import Yams

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
            members.append(("recorded", Node([(Node("mode"), JSONValue.yaml(mode.rawValue))] + digest)))
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

    /// Returns the name of the file with its body, beside its own.
    ///
    /// - Parameter count: Which of them, if there are others.
    func bodyName(ending: String, _ count: Int = 1) -> String {
        name.dropLast(Self.ending.count) + ".body\(count > 1 ? "-\(count)" : "").\(ending)"
    }
}

extension FixtureMatch {
    /// As a file has it; nil if the request line is all.
    fileprivate var yaml: Node? {
        let rules = RequestMatch(header: header, body: body)
        var members = (rules.json.object?.members ?? []).map { (JSONValue.yaml($0.name), $0.value.yaml) }
        if let digest { members.append(("body_sha256", JSONValue.yaml(digest))) }
        return members.isEmpty ? nil : Node(members)
    }
}
