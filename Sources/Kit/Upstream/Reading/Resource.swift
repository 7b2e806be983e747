package import Concurrency
package import Foundation
package import GRDB
package import HTTP
package import HTTPTypes
package import Storage

/// One resource of an upstream that a screen is made from: its request, its freshness time, and the rows that an app
/// makes of its response.
package struct Resource: Sendable {
    /// Absolute URL. Its origin is the upstream's own, or its host is listed in `allowed_hosts`.
    package var url: String
    /// Header fields of the request, without preconditions: those are added if a copy is stored.
    package var headerFields: HTTPFields
    /// The credential that the response depends on; nil for a shared one.
    var credential: CredentialHash?
    /// How long a response is fresh after it was validated; nil without an end.
    package var freshness: Duration?
    /// Date of the app's own copy, such as rows or a file of the program, which is served while no response is stored;
    /// nil if there is none.
    package var bundledAt: Date?
    /// Origin of that copy: bundled with the program, or made from other responses of the upstream.
    package var bundledSource = Provenance.Source.bundled
    /// Whether an app makes rows of the response. Then it is stored whatever its size and never evicted: without it the
    /// age of the rows would be unknown.
    package var isSourceOfRows: Bool
    /// Whether the body is stored, or only its digest. False if the app's rows have all that is needed of it,
    /// and the rest must not be kept on the disk, such as links that open files.
    package var keepsBody = true
    /// The form in which the API refuses this request: a 4xx response in another form is a failure, and a stored copy
    /// is served.
    package var errors = ErrorForm.none
    /// Requests of different generations are never collapsed: a request sent before a write of the app does not serve a
    /// read after it.
    package var generation: Int64 = 0
    /// Whether a read waits for the upstream to its total time-out, not only for the patience, even if there is a copy.
    package var waitsToTimeout = false
    /// Whether it is one of many pictures of a page. Nobody waits for it longer than `pictureWait`, and a missing one
    /// is not requested again for a minute. Its failures say nothing of the API, although it may have the same origin.
    package var isPicture = false
    /// Whether a response must be validated before it is used as fresh, because something has changed since it was
    /// requested. Evaluated in the transaction that stores it, before the app's rows are written.
    package var needsRevalidation: @Sendable (Database) throws -> Bool = { _ in false }
    /// Validates a 200 before it is stored. Throws ``UpstreamError/badResponse(status:reason:)`` if it does not have
    /// the form that the API promises, so that it never replaces a good copy.
    package var validate: @Sendable (IncomingResponse) throws(UpstreamError) -> PersistRows

    /// Creates a description. The default of `validate` accepts any 200.
    package init(
        url: String,
        headerFields: HTTPFields = [:],
        credential: CredentialHash? = nil,
        freshness: Duration?,
        isSourceOfRows: Bool = false,
        validate: @escaping @Sendable (IncomingResponse) throws(UpstreamError) -> PersistRows = { _ in .none }
    ) {
        self.url = url
        self.headerFields = headerFields
        self.credential = credential
        self.freshness = freshness
        self.isSourceOfRows = isSourceOfRows
        self.validate = validate
    }

    /// Returns a JSON document at a path below the upstream's address. A 200 of another form is not stored.
    ///
    /// - Parameter form: The name of the form, for the problem: `a list of forecasts`.
    package static func json<Document: Decodable & Sendable>(
        _ type: Document.Type,
        _ form: String,
        at path: String,
        of upstream: Upstream,
        freshness: Duration
    ) -> Resource {
        Resource(
            url: upstream.configuration.url(of: path),
            headerFields: [.accept: "application/json"],
            freshness: freshness
        ) { response throws(UpstreamError) in
            guard (try? JSONDecoder().decode(type, from: Data(response.body))) != nil else {
                throw .badResponse(status: response.status, reason: "not \(form)")
            }
            return .none
        }
    }

    /// Longest wait for a picture. The request continues, so that a later read finds the picture.
    static let pictureWait: Duration = .seconds(3)
    /// How long a missing picture is remembered, in seconds.
    static let missingPictureLifetime: TimeInterval = 60

    /// Identifies requests that can be collapsed.
    var flightKey: FlightKey {
        FlightKey(url: url, headerFields: headerFields, credential: credential, generation: generation)
    }
}

/// Identity of a request under way.
struct FlightKey: Hashable, Sendable {
    let url: String
    let headerFields: HTTPFields
    let credential: CredentialHash?
    let generation: Int64
}

package struct ReadResult: Sendable {
    /// The response, fetched or stored; nil if the app's own copy is to be served (``Resource/bundledAt``).
    package var response: CachedResponse?
    /// Its origin and age.
    package var provenance: Provenance
    /// Holds while a further read would have the same result; nil if that is not known, as after every request to the
    /// upstream.
    package var changeToken: ChangeToken?

    /// Creates the result of a read that needs no response.
    package init(response: CachedResponse?, provenance: Provenance, changeToken: ChangeToken? = nil) {
        self.response = response
        self.provenance = provenance
        self.changeToken = changeToken
    }
}

/// How a read may be served from the store (RFC 9111 §5.2.1, as far as screens support it).
package enum CachePolicy: Sendable, Equatable {
    /// Network first within the patience, else the stored copy.
    case useCache
    /// `Cache-Control: no-cache` or `?refresh=1`: always ask the upstream.
    case revalidate
    /// `Cache-Control: only-if-cached`: never ask the upstream.
    case onlyIfCached
}

/// The form in which an API refuses a request. It tells the API's own 4xx responses from those of an intermediary, such
/// as a proxy, a captive portal or another server at a wrong address.
///
/// A refusal in the API's own form is news of the resource. A 4xx response in any other form is a failure of the
/// upstream: a stored copy is served in its place, and nothing that is stored is removed.
package struct ErrorForm: Sendable {
    private let isOwn: @Sendable (IncomingResponse) -> Bool
    private let passing: Set<Int>

    /// - Parameters:
    ///   - passing: Status codes of refusals that say nothing of the resource because they will pass, such as 423. They
    ///     count as failures of the upstream.
    ///   - isOwn: Whether the API itself has sent a 4xx response.
    package init(passing: Set<Int> = [], _ isOwn: @escaping @Sendable (IncomingResponse) -> Bool) {
        self.passing = passing
        self.isOwn = isOwn
    }

    /// The form of an API whose 4xx responses all count as failures.
    static let none = ErrorForm { _ in false }

    /// Largest part of a refusal's body that is kept, in bytes; a path of the Disk quoted twice fits.
    private static let longestRefusal = 256 << 10

    /// Checks that a response is no client error (RFC 9110 §15.5).
    ///
    /// - Throws: ``UpstreamError/rejected(status:body:)`` for a refusal in this form,
    ///   ``UpstreamError/failing(status:retryAfter:)`` for one that will pass,
    ///   ``UpstreamError/badResponse(status:reason:)`` for another one, and for 407, which only a proxy sends.
    func check(_ response: IncomingResponse) throws(UpstreamError) {
        guard response.status.kind == .clientError else { return }
        guard response.status != .proxyAuthenticationRequired, isOwn(response) else {
            throw .badResponse(
                status: response.status,
                reason: "status \(response.status.code), not in the form of its own refusals"
            )
        }
        if passing.contains(response.status.code) { throw .failing(status: response.status, retryAfter: nil) }
        throw .rejected(status: response.status, body: Array(response.body.prefix(Self.longestRefusal)))
    }
}

extension Resource {
    /// Writes the rows that an app makes of a response, in the transaction that stores the response: both change
    /// together or not at all. Rows that several servers share are written before, so they are never older than the
    /// response says. If they cannot be written, the response is not stored, and the next read requests it again.
    ///
    /// SQLite has one writer. Rows for which other writers would wait too long are written in parts.
    package struct PersistRows: Sendable {
        private let next: @Sendable (Database) throws -> Bool
        /// Writes rows before the transaction that stores the response.
        package let writeBefore: @Sendable () async throws -> Void

        /// Makes no rows.
        package static let none = PersistRows { _ in }

        /// Writes all rows in the transaction that stores the response.
        package init(_ write: @escaping @Sendable (Database) throws -> Void) {
            self.init(next: { db in
                try write(db)
                return true
            })
        }

        private init(
            next: @escaping @Sendable (Database) throws -> Bool = { _ in true },
            before writeBefore: @escaping @Sendable () async throws -> Void = {}
        ) {
            self.next = next
            self.writeBefore = writeBefore
        }

        /// Writes rows before the response is stored, and others in the transaction that stores it.
        package static func before(
            _ writeBefore: @escaping @Sendable () async throws -> Void,
            then write: @escaping @Sendable (Database) throws -> Void = { _ in }
        ) -> PersistRows {
            PersistRows(
                next: { db in
                    try write(db)
                    return true
                },
                before: writeBefore
            )
        }

        /// Writes rows in parts: the last one in the transaction that stores the response, each other one before, in a
        /// transaction of its own. If a part fails, those before it stay. The response is not stored then, so that the
        /// next read requests it again.
        ///
        /// - Parameter next: Writes the next part. Returns whether it was the last one.
        package static func inParts(_ next: @escaping @Sendable (Database) throws -> Bool) -> PersistRows {
            PersistRows(next: next)
        }

        /// Writes the next part.
        ///
        /// - Returns: Whether it was the last one.
        /// - Throws: Errors of the app and of the database.
        package func writeNext(in db: Database) throws -> Bool { try next(db) }
    }
}
