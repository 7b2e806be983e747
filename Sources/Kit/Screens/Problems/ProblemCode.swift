public import HTTPTypes

/// Every kind of error that leaves Larder, with its status and title: the table of design/screens.md 1.4.
public enum ProblemCode: String, Sendable, CaseIterable {
    case malformedRequest = "malformed-request"
    case malformedJSON = "malformed-json"
    case invalidParameter = "invalid-parameter"
    case sessionRequired = "session-required"
    case sessionExpired = "session-expired"
    case invalidCredentials = "invalid-credentials"
    case upstreamSessionExpired = "upstream-session-expired"
    case guestNotAllowed = "guest-not-allowed"
    case upstreamForbidden = "upstream-forbidden"
    case hostNotAllowed = "host-not-allowed"
    case originNotAllowed = "origin-not-allowed"
    case notFound = "not-found"
    case shipDeleted = "ship-deleted"
    case methodNotAllowed = "method-not-allowed"
    case nameTaken = "name-taken"
    case targetExists = "target-exists"
    case confirmationRequired = "confirmation-required"
    case lastPage = "last-page"
    case listEmpty = "list-empty"
    case notAFolder = "not-a-folder"
    case notSaved = "not-saved"
    case preconditionFailed = "precondition-failed"
    case tooLarge = "too-large"
    case tooManyPages = "too-many-pages"
    case unsupportedMediaType = "unsupported-media-type"
    case badRange = "bad-range"
    case validationFailed = "validation-failed"
    case damaged
    case encrypted
    case timedOut = "timed-out"
    case rateLimited = "rate-limited"
    case headersTooLarge = "headers-too-large"
    case requestTimeout = "request-timeout"
    case `internal`
    case toolMissing = "tool-missing"
    case upstreamBadResponse = "upstream-bad-response"
    case outcomeUnknown = "outcome-unknown"
    case upstreamUnavailable = "upstream-unavailable"
    case offlineWriteRefused = "offline-write-refused"
    case overloaded
    case notInCache = "not-in-cache"
    case upstreamStorageFull = "upstream-storage-full"

    /// Status and title.
    private var facts: (status: Int, title: String) {
        switch self {
        case .malformedRequest: (400, "The request is malformed")
        case .malformedJSON: (400, "The body is not JSON")
        case .invalidParameter: (400, "A parameter is not acceptable")
        case .sessionRequired: (401, "A session is required")
        case .sessionExpired: (401, "The session is not known any more")
        case .invalidCredentials: (401, "The credentials are not right")
        case .upstreamSessionExpired: (401, "The upstream does not accept its token any more")
        case .guestNotAllowed: (403, "Guests may not do this")
        case .upstreamForbidden: (403, "The upstream does not allow this")
        case .hostNotAllowed: (403, "This host name is not served")
        case .originNotAllowed: (403, "This origin may not write")
        case .notFound: (404, "There is nothing here")
        case .shipDeleted: (404, "The ship was deleted")
        case .methodNotAllowed: (405, "The method is not allowed here")
        case .nameTaken: (409, "The name is taken")
        case .targetExists: (409, "The target exists")
        case .confirmationRequired: (409, "A confirmation is required")
        case .lastPage: (409, "The last page cannot be deleted")
        case .listEmpty: (409, "The list is empty")
        case .notAFolder: (409, "This is not a folder")
        case .notSaved: (409, "The document is not saved yet")
        case .preconditionFailed: (412, "It has changed in the meantime")
        case .tooLarge: (413, "The body is too large")
        case .tooManyPages: (413, "There are too many pages")
        case .unsupportedMediaType: (415, "The media type is not supported")
        case .badRange: (416, "The range cannot be satisfied")
        case .validationFailed: (422, "Some fields are not acceptable")
        case .damaged: (422, "A file is damaged")
        case .encrypted: (422, "A file is protected by a password")
        case .timedOut: (422, "Working on a file took longer than it may")
        case .rateLimited: (429, "Too many requests")
        case .headersTooLarge: (431, "The header is too large")
        case .requestTimeout: (408, "The request took too long")
        case .internal: (500, "Something went wrong in Larder")
        case .toolMissing: (501, "A program that this needs is not installed")
        case .upstreamBadResponse: (502, "The upstream gave an unusable answer")
        case .outcomeUnknown: (502, "It is not known whether this was carried out")
        case .upstreamUnavailable: (503, "Upstream cannot be reached")
        case .offlineWriteRefused: (503, "Not possible while the upstream is offline")
        case .overloaded: (503, "Larder is overloaded")
        case .notInCache: (504, "Nothing is stored for this")
        case .upstreamStorageFull: (507, "The upstream has no space left")
        }
    }

    /// Status of the response.
    public var status: HTTPResponse.Status { .init(code: facts.status) }

    /// `title` of the problem: the same for every problem of this code (RFC 9457 §3.1.3).
    public var title: String { facts.title }

    /// Whether the same request may succeed later without a change.
    public var isRetryable: Bool {
        switch self {
        case .rateLimited, .upstreamBadResponse, .upstreamUnavailable, .offlineWriteRefused, .overloaded, .notInCache,
            .requestTimeout:
            true
        default: false
        }
    }
}
