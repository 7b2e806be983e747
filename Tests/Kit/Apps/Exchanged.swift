package import Foundation
import HTTP
package import HTTPTypes
import Screens
package import Testing

/// A whole response as a client sees it.
package struct Exchanged: Sendable {
    package let status: Int
    package let headerFields: HTTPFields
    package let body: Data

    /// A response of these parts.
    package init(status: Int, headerFields: HTTPFields, body: Data) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }

    /// A value of the body by its path, such as `data.items.0.name`; nil if there is none.
    package subscript(_ path: String) -> JSON? {
        try? JSON(body).at(path.split(separator: ".").map(String.init))
    }

    /// The members of one name in a list of objects.
    package func all(_ name: String, in path: String) -> [JSON] {
        (self[path]?.elements ?? []).map { $0[name] ?? .null }
    }

    /// The body has no text at a path.
    package struct NoText: Error {
        let path: String
        let response: String

        /// Describes the place.
        package init(path: String, response: String) {
            self.path = path
            self.response = response
        }
    }

    /// Returns a text of the body by its path.
    package func string(_ path: String) throws -> String {
        guard case .string(let text) = self[path] else { throw NoText(path: path, response: text) }
        return text
    }

    /// Returns the texts of one name in a list of objects; other values are left out.
    package func strings(_ name: String, in path: String) -> [String] {
        all(name, in: path).compactMap(\.string)
    }

    /// Names of the members of an object.
    package func names(in path: String) -> Set<String> { Set(self[path]?.object?.keys ?? [:].keys) }

    package var text: String { String(decoding: body, as: UTF8.self) }
    /// `Cache-Status`.
    package var cacheStatus: String? { headerFields[.cacheStatus] }
    /// `Age`.
    package var age: String? { headerFields[.age] }

    /// Expects a problem of this code, whole and in its media type.
    package func expectProblem(_ code: String, _ status: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self.status == status, sourceLocation: sourceLocation)
        #expect(headerFields[.contentType] == "application/problem+json; charset=utf-8", sourceLocation: sourceLocation)
        #expect(headerFields[.cacheControl] == "no-store", sourceLocation: sourceLocation)
        #expect(headerFields[.contentLanguage] != nil, sourceLocation: sourceLocation)
        #expect(headerFields[.vary]?.hasPrefix("Accept-Language") == true, sourceLocation: sourceLocation)
        #expect(headerFields[.eTag] == nil, sourceLocation: sourceLocation)
        #expect(self["code"] == .string(code), sourceLocation: sourceLocation)
        #expect(self["type"] == .string("urn:larder:problem:\(code)"), sourceLocation: sourceLocation)
        #expect(self["status"] == .number(Double(status)), sourceLocation: sourceLocation)
        #expect(self["state"] == "error", sourceLocation: sourceLocation)
        #expect(self["data"] == nil, sourceLocation: sourceLocation)
    }

    /// Expects the fields and members that all screens have.
    package func expectScreen(
        _ name: String,
        status: Int = 200,
        language: String = "en",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.status == status, sourceLocation: sourceLocation)
        #expect(headerFields[.contentType] == "application/json; charset=utf-8", sourceLocation: sourceLocation)
        #expect(headerFields[.cacheControl] == "private, no-cache", sourceLocation: sourceLocation)
        #expect(headerFields[.contentLanguage] == language, sourceLocation: sourceLocation)
        #expect(
            headerFields[.vary] == "Authorization, Cookie, Accept-Language, Accept-Encoding",
            sourceLocation: sourceLocation
        )
        #expect(headerFields[.requestID] != nil, sourceLocation: sourceLocation)
        #expect(self["meta.screen"] == .string(name), sourceLocation: sourceLocation)
        #expect(names(in: "") == ["data", "meta", "links"], sourceLocation: sourceLocation)
    }
}

extension Exchanged {
    /// A response that refuses a write of a ``FaultLoop``.
    package struct Refused: Error, CustomStringConvertible {
        package let description: String

        package init(_ response: Exchanged) { description = response.text }
    }

    /// Expects the response to an earlier request with the same `Idempotency-Key`, byte for byte.
    package func expectRepeats(_ first: Exchanged, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(status == first.status && body == first.body, "\(text)", sourceLocation: sourceLocation)
        #expect(headerFields[.idempotencyReplayed] == "true", sourceLocation: sourceLocation)
        for name in [
            HTTPField.Name.location, .eTag, .contentType, .cacheControl, .contentLanguage, .preferenceApplied,
        ] {
            #expect(headerFields[name] == first.headerFields[name], "\(name)", sourceLocation: sourceLocation)
        }
    }

    /// Expects a screen of users' data while PostgreSQL is away: stale, with a text.
    package func expectStaleStore(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let comment: Comment = "\(path): \(text)"
        #expect(status == 200 && self["meta.stale"] == true, comment, sourceLocation: sourceLocation)
        #expect(self["meta.offline"] == false, comment, sourceLocation: sourceLocation)
        #expect(self["meta.banner.code"] == "store-unavailable", comment, sourceLocation: sourceLocation)
    }

    /// Expects the refusal of a change while PostgreSQL is away.
    package func expectStoreUnavailable(sourceLocation: SourceLocation = #_sourceLocation) {
        expectProblem("store-unavailable", 503, sourceLocation: sourceLocation)
        #expect(headerFields[.retryAfter] != nil, sourceLocation: sourceLocation)
    }
}

/// Searches and the rows that a person expects of each. At least 90 % of the rows have to be found, and 90 % of the
/// screens have to say by which other words.
package struct GradedSearches: Sendable {
    package let queries: [(text: String, expected: [String], used: [String])]

    package init(_ queries: [(text: String, expected: [String], used: [String])]) { self.queries = queries }

    /// Tries all, and prints those that find less than expected.
    ///
    /// - Parameters:
    ///   - title: The name of the app, for the report.
    ///   - member: The member of a row that names it.
    ///   - search: Returns the screen of a search for an encoded text.
    package func run(
        _ title: String,
        naming member: String = "name",
        sourceLocation: SourceLocation = #_sourceLocation,
        _ search: (String) async throws -> Exchanged
    ) async throws {
        var (found, expected, said, lines) = (0, 0, 0, "")
        for query in queries {
            let response = try await search(PercentEncoding.encode(query.text, allowed: .unreserved))
            let names = response.strings(member, in: "data.items")
            let hits = query.expected.filter(names.contains)
            (found, expected) = (found + hits.count, expected + query.expected.count)
            let used = response["meta.search.used"]?.strings ?? []
            said += used == query.used ? 1 : 0
            if hits.count < query.expected.count || used != query.used { lines += "\(query.text): \(names) \(used)\n" }
        }
        print("\(title): \(found) of \(expected)\n\(lines)")
        #expect(found * 10 >= expected * 9, sourceLocation: sourceLocation)
        #expect(said * 10 >= queries.count * 9, "said \(said) of \(queries.count)", sourceLocation: sourceLocation)
    }
}

/// The content of screens seen so far, to find out whether `meta.fetched_at` moves with it.
package struct SeenContent {
    private var seen: [String: (content: JSON, fetchedAt: String)] = [:]
    /// How often a screen had another content than before.
    package private(set) var changes = 0

    /// Nothing is seen yet.
    package init() {}

    /// Expects that content which is another one than before was received later. The clock must have moved on by a
    /// second since then. Actions and empty states depend on more than the content.
    package mutating func check(
        _ response: Exchanged,
        of screen: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard response.status == 200, let data = response["data"],
            case .string(let fetchedAt) = response["meta.fetched_at"]
        else { return }
        let content = data.without(["actions", "empty"])
        defer { seen[screen] = (content, fetchedAt) }
        guard let before = seen[screen], before.content != content else { return }
        changes += 1
        #expect(
            before.fetchedAt < fetchedAt,
            "\(screen): \(before.content) became \(content)",
            sourceLocation: sourceLocation
        )
    }
}

extension JSON {
    /// Returns the value without members of these names.
    fileprivate func without(_ names: Set<String>) -> JSON {
        switch self {
        case .object(let members):
            .object(members.filter { !names.contains($0.key) }.mapValues { $0.without(names) })
        case .array(let items): .array(items.map { $0.without(names) })
        default: self
        }
    }
}
