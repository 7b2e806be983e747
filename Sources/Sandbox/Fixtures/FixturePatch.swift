import Foundation
import HTTPTypes
import JSONValues
import Yams

/// A change of responses while they are forwarded, for the mode `modify`.
struct FixturePatch: Sendable {
    static let ending = ".patch.yaml"

    let name: String
    /// The requests whose responses it changes.
    let match: RequestMatch
    let status: Int?
    /// New values of fields; null removes them.
    let header: [(name: String, value: String?)]
    let merge: JSONValue?
    let operations: JSONPatch?

    static func isName(_ name: String) -> Bool { name.hasSuffix(ending) && !name.hasPrefix(".") }

    /// Reads a file.
    /// - Throws: ``YAMLDefect`` with the line that cannot be used.
    init(_ text: String, name: String) throws(YAMLDefect) {
        let names = ["match", "status", "header", "merge", "patch"]
        let members = try YAMLMembers(try JSONValue.node(of: text), only: names)
        self.name = name
        match = try members["match"].map { (node) throws(YAMLDefect) in try Self.match(node) } ?? RequestMatch()
        status = try members["status"].map { (node) throws(YAMLDefect) in try Fixture.status(node) }
        header = try members["header"].map { (node) throws(YAMLDefect) in try Self.header(node) } ?? []
        merge = try members["merge"].map { (node) throws(YAMLDefect) in try JSONValue(node) }
        operations = try members["patch"].map { (node) throws(YAMLDefect) in
            do {
                return try JSONPatch(try JSONValue(node))
            } catch let defect as JSONPatch.Defect {
                throw YAMLDefect(line: node.mark?.line, reason: "patch: \(defect)")
            } catch let defect as YAMLDefect {
                throw defect
            } catch {
                throw YAMLDefect(line: node.mark?.line, reason: "patch: \(error)")
            }
        }
        guard status != nil || !header.isEmpty || merge != nil || operations != nil else {
            throw YAMLDefect(line: nil, reason: "it changes nothing: status, header, merge or patch is expected")
        }
    }

    private static func match(_ node: Node) throws(YAMLDefect) -> RequestMatch {
        let value = try JSONValue(node)
        do {
            return try RequestMatch(value)
        } catch {
            throw YAMLDefect(line: node.mark?.line, reason: "match: \(error.detail)")
        }
    }

    private static func header(_ node: Node) throws(YAMLDefect) -> [(name: String, value: String?)] {
        guard let mapping = node.mapping else { throw node.refusal("header", accepted: "names with values") }
        return try mapping.map { (key, value) throws(YAMLDefect) in
            guard let name = key.string, HTTPField.Name(name) != nil, let text = value.scalar else {
                throw YAMLDefect(line: key.mark?.line, reason: "header has names of fields with a value or null")
            }
            return (name, text.style == .plain && ["null", "~", ""].contains(text.string) ? nil : text.string)
        }
    }

    /// Whether it needs the body of a response.
    var changesBody: Bool { merge != nil || operations != nil }

    /// Changes a response.
    /// - Throws: ``JSONPatch/Defect`` if an operation does not fit, ``JSONSyntaxError`` if the body is no JSON.
    func apply(to response: inout FixtureResponse) throws {
        if let status { response.status = .init(code: status) }
        for field in header {
            if let name = HTTPField.Name(field.name) { response.headerFields[name] = field.value }
        }
        guard changesBody else { return }
        var value = try JSONParser.parse(try response.bytes())
        if let merge { value = value.mergePatched(with: merge) }
        if let operations { value = try operations.applied(to: value) }
        response.content = .bytes(value.serialized())
        for name in [.contentLength, .eTag, .lastModified, .contentMD5] as [HTTPField.Name] {
            response.headerFields[name] = nil
        }
        response.headerFields[.contentLength] = String(response.content.count)
    }
}

extension HTTPField.Name {
    fileprivate static let contentMD5 = HTTPField.Name("Content-MD5") ?? .contentLength
}
