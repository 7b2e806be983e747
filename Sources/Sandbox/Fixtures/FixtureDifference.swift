import HTTPTypes
import JSONValues
import Synchronization

/// One difference of an upstream's response from its recording.
package struct FixtureDifference: Sendable, Equatable, CustomStringConvertible {
    package let file: String
    package let request: String
    /// `changed`, `missing` or `new`.
    package let kind: String
    /// The part of the response: `status`, `header.content-type`, `body`, or the JSON pointer of a member.
    package let place: String
    let old: String
    let new: String

    /// For a terminal, without the file.
    package var description: String {
        switch kind {
        case "missing": "missing \(place): \(old)"
        case "new": "new     \(place): \(new)"
        default: "changed \(place): \(old) -> \(new)"
        }
    }

    var json: JSONValue {
        [
            "file": .string(file), "request": .string(request), "kind": .string(kind), "place": .string(place),
            "recorded": .string(old), "received": .string(new),
        ]
    }
}

extension Fixture {
    /// Returns the differences of a response from the recorded one. Secrets are not compared.
    ///
    /// - Parameter recorded: The bytes of the recorded body.
    func differences(from response: FixtureResponse, recorded: [UInt8], _ cleaner: SecretCleaner) throws
        -> [FixtureDifference]
    {
        func difference(_ kind: String, _ place: String, _ old: String, _ new: String) -> FixtureDifference {
            FixtureDifference(file: name, request: match.line, kind: kind, place: place, old: old, new: new)
        }
        var found: [FixtureDifference] = []
        if status != response.status.code {
            found.append(difference("changed", "status", "\(status)", "\(response.status.code)"))
        }
        let (oldType, newType) = (headerFields[.contentType] ?? "", response.headerFields[.contentType] ?? "")
        if oldType != newType { found.append(difference("changed", "header.content-type", oldType, newType)) }
        let sent = try response.bytes()
        let limit = UpstreamFixtures.longestComparison
        let received = ContentCoding.decoded(sent, response.headerFields, atMost: limit) ?? sent
        let cleaner = cleaner.comparing([:], "")
        let shown = cleaner.body(received, BodyForm(response.headerFields))
        guard let old = JSONValue(json: recorded), let new = JSONValue(json: shown) else {
            if Self.anonymous(recorded) != Self.anonymous(shown) {
                found.append(difference("changed", "body", "\(recorded.count) bytes", "\(shown.count) bytes"))
            }
            return found
        }
        let changes = old.mapStrings(FixtureMatch.anonymous).changes(to: new.mapStrings(FixtureMatch.anonymous))
        return found
            + changes.map { difference($0.kind.rawValue, $0.pointer.text, $0.old, $0.new) }
    }

    private static func anonymous(_ bytes: [UInt8]) -> [UInt8] {
        String(validating: bytes, as: UTF8.self).map { Array(FixtureMatch.anonymous($0).utf8) } ?? bytes
    }
}

extension JSONPointer {
    /// The pointer, or a word for the whole value, whose pointer is empty.
    fileprivate var text: String { tokens.isEmpty ? "body" : description }
}

/// A recorded exchange that can be repeated.
package struct RecordedExchange: Sendable {
    package let file: String
    package let line: String
    /// The request, without its secrets; nil if it cannot be sent again: it writes, or has secrets in its target.
    package let request: FixtureRequest?
}

extension UpstreamFixtures {
    private static let mostDifferences = 200
    /// Largest response that is compared, in bytes.
    package static let longestComparison = 64 << 20

    /// The recorded exchanges in their order, and in words the defects of other files.
    package var exchanges: (recorded: [RecordedExchange], broken: [String]) {
        let (fixtures, defects) = withFiles { ($0.folder?.exchanges ?? [], $0.folder?.defects ?? []) }
        return (fixtures.map { RecordedExchange($0) }, defects.map(\.text))
    }

    /// Returns the differences of a response from that of a file.
    /// - Throws: The errors of the file system, ``YAMLDefect``.
    package func differences(of response: FixtureResponse, from file: String) throws -> [FixtureDifference] {
        let found = withFiles { state in
            state.folder.flatMap { folder in
                folder.exchanges.first { $0.name == file }.map { (fixture: $0, folder: folder.url) }
            }
        }
        guard let found else { return [] }
        let recorded = try found.fixture.response(in: found.folder).bytes()
        return try found.fixture.differences(from: response, recorded: recorded, cleaner)
    }

    /// Compares a response with the recorded one, if there is one, and stores the differences for the controls.
    package func compare(_ response: FixtureResponse, to request: FixtureRequest) throws {
        guard let mark = Self.mark, let file = reply(to: request)?.headerFields[mark] else {
            _ = refusal(of: request)
            return
        }
        let differences = try differences(of: response, from: file)
        for difference in differences { report("\(name): \(file): \(difference)") }
        state.withLock { state in
            state.differences += differences
            state.differences.removeFirst(max(0, state.differences.count - Self.mostDifferences))
        }
    }
}

extension RecordedExchange {
    fileprivate init(_ fixture: Fixture) {
        file = fixture.name
        line = fixture.match.line
        let parts = FixtureMatch.Line(line)
        let isSafe = ["GET", "HEAD"].contains(parts.method) && !line.contains(Secrets.prefix)
        guard isSafe, !line.contains("*"), let method = HTTPRequest.Method(parts.method) else {
            request = nil
            return
        }
        var fields = HTTPFields()
        for item in fixture.match.header {
            if case .equal(let value) = item.value, let name = HTTPField.Name(item.name) { fields[name] = value }
        }
        request = FixtureRequest(method: method, target: parts.origin + parts.path, headerFields: fields)
    }
}
