public import Foundation
public import GRDB
public import HTTPTypes
public import Storage

/// One thing of an upstream that a screen is made from: how to ask for it, how long it is fresh, and what its response
/// means to an app.
public struct Resource: Sendable {
    /// What an app writes when a response is admitted, in the transaction that stores the response: rows and answer change
    /// together or not at all.
    public typealias PersistRows = @Sendable (Database) throws -> Void

    /// Absolute URL. Its origin is the upstream's own, or its host is listed in `allowed_hosts`.
    public var url: String
    /// Header fields of the request, without conditions: those are added when a copy is stored.
    public var headerFields: HTTPFields
    /// Whose response it is; nil for everybody's.
    public var credential: CredentialHash?
    /// For how long a response is fresh after it was fetched or confirmed; nil for ever.
    public var freshness: Duration?
    /// Date of a copy that comes with the program, where the app has one: it stands in while nothing is stored.
    public var bundledAt: Date?
    /// Whether an app makes rows of the response. Then it is stored whatever its size and never evicted: without it
    /// nobody could say how old the rows are.
    public var isSourceOfRows: Bool
    /// Whether the body is stored. Not where the app's rows say all that is wanted of it, and what else is in it must
    /// not stay on the disk, such as links that open files.
    public var keepsBody = true
    /// The form in which the API refuses this request: a 4xx response in another form is a failure, and a stored copy
    /// is served.
    public var errors = ErrorForm.none
    /// Requests of different generations are never collapsed: what was asked before a write of the app is no
    /// response to a read after it.
    public var generation: Int64 = 0
    /// Whether a response that is stored now needs validation before it is used as fresh, because something has
    /// changed since it was asked for.
    /// Evaluated in the transaction that stores it, before ``validate`` writes.
    public var needsRevalidation: @Sendable (Database) throws -> Bool = { _ in false }
    /// Looks at a 200 before it is stored: throws ``UpstreamError/badResponse(status:reason:)`` if it is not what the API
    /// promises, so that it never replaces a good copy.
    public var validate: @Sendable (IncomingResponse) throws(UpstreamError) -> PersistRows

    /// Describes a resource. Without `validate` any 200 will do.
    public init(
        url: String,
        headerFields: HTTPFields = [:],
        credential: CredentialHash? = nil,
        freshness: Duration?,
        isSourceOfRows: Bool = false,
        validate: @escaping @Sendable (IncomingResponse) throws(UpstreamError) -> PersistRows = { _ in { _ in } }
    ) {
        self.url = url
        self.headerFields = headerFields
        self.credential = credential
        self.freshness = freshness
        self.isSourceOfRows = isSourceOfRows
        self.validate = validate
    }

    /// What makes two requests the same request: identical ones under way are collapsed.
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

/// What a read came to.
public struct ReadResult: Sendable {
    /// The response, fetched or stored; nil where the app's bundled copy stands in (``Resource/bundledAt``).
    public var response: CachedResponse?
    /// Where it comes from.
    public var provenance: Provenance
    /// For how long a further read would come to the same; nil where that is not known, as after every request to the
    /// upstream.
    public var changeToken: ChangeToken?
}
