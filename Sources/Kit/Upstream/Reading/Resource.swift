public import Foundation
public import Freshness
public import GRDB
public import HTTPTypes
public import ResponseStore

/// One resource of an upstream that a screen is made from: how to request it, how long it is fresh, and what an app
/// makes of its response.
public struct Resource: Sendable {
    /// Absolute URL. Its origin is the upstream's own, or its host is listed in `allowed_hosts`.
    public var url: String
    /// Header fields of the request, without preconditions: those are added if a copy is stored.
    public var headerFields: HTTPFields
    /// The credential that the response depends on; nil for a shared one.
    public var credential: CredentialHash?
    /// How long a response is fresh after it was validated; nil without an end.
    public var freshness: Duration?
    /// Date of the copy that the app has of its own, such as rows or a file of the program, to be served while no
    /// response is stored; nil if it has none.
    public var bundledAt: Date?
    /// Origin of that copy: bundled with the program, or made from other responses of the upstream.
    public var bundledSource = Provenance.Source.bundled
    /// Whether an app makes rows of the response. Then it is stored whatever its size and never evicted: without it the
    /// age of the rows would be unknown.
    public var isSourceOfRows: Bool
    /// Whether the body is stored, or only its digest. False if the app's rows have all that is needed of it,
    /// and the rest must not be kept on the disk, such as links that open files.
    public var keepsBody = true
    /// The form in which the API refuses this request: a 4xx response in another form is a failure, and a stored copy
    /// is served.
    public var errors = ErrorForm.none
    /// Requests of different generations are never collapsed: a request sent before a write of the app does not serve a
    /// read after it.
    public var generation: Int64 = 0
    /// Whether a read waits for the upstream to its total time-out, not only for the patience, even if there is a copy.
    public var waitsToTimeout = false
    /// Whether it is one of the pictures of which a page has many: nobody waits for it longer than ``pictureWait``, one
    /// that is missing is not requested again for a minute, and its failures say nothing of the API, which may be at
    /// the same origin.
    public var isPicture = false
    /// Whether a response must be validated before it is used as fresh, because something has changed since it was
    /// requested. Evaluated in the transaction that stores it, before the app's rows are written.
    public var needsRevalidation: @Sendable (Database) throws -> Bool = { _ in false }
    /// Validates a 200 before it is stored. Throws ``UpstreamError/badResponse(status:reason:)`` if it is not what the
    /// API promises, so that it never replaces a good copy.
    public var validate: @Sendable (IncomingResponse) throws(UpstreamError) -> PersistRows

    /// Creates a description. The default of `validate` accepts any 200.
    public init(
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

    /// Longest wait for a picture. The request continues, so that a later read finds the picture.
    public static let pictureWait: Duration = .seconds(3)
    /// How long a missing picture is remembered, in seconds.
    public static let missingPictureLifetime: TimeInterval = 60

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

/// The result of a read.
public struct ReadResult: Sendable {
    /// The response, fetched or stored; nil if the app's own copy is to be served (``Resource/bundledAt``).
    public var response: CachedResponse?
    /// Its origin and age.
    public var provenance: Provenance
    /// Holds while a further read would have the same result; nil if that is not known, as after every request to the
    /// upstream.
    public var changeToken: ChangeToken?

    /// Creates the result of a read that needs no response.
    public init(response: CachedResponse?, provenance: Provenance, changeToken: ChangeToken? = nil) {
        self.response = response
        self.provenance = provenance
        self.changeToken = changeToken
    }
}
