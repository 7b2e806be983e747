public import HTTPTypes

/// A kind of error that clients can tell apart, with its status and title.
///
/// The codes that every app shares are here; an app declares its own in an extension and lists them in its `problems`.
/// See "Problems" in docs/contract.md.
public struct ProblemCode: Sendable, Hashable {
    /// The code itself, such as `not-found`.
    public let rawValue: String
    /// Status of the response.
    public let status: HTTPResponse.Status
    /// `title` of the problem: the same for every problem of this code (RFC 9457 §3.1.3).
    public let title: String
    /// Whether the same request may succeed later without a change.
    public let isRetryable: Bool

    /// Declares a code.
    public init(_ rawValue: String, _ status: HTTPResponse.Status, _ title: String, isRetryable: Bool = false) {
        self.rawValue = rawValue
        self.status = status
        self.title = title
        self.isRetryable = isRetryable
    }
}

extension ProblemCode {
    /// The codes that are no app's own, in the order of the contract.
    public static let common: [ProblemCode] = [
        .malformedRequest, .malformedJSON, .invalidParameter, .sessionRequired, .sessionExpired, .invalidCredentials,
        .upstreamSessionExpired, .guestNotAllowed, .upstreamForbidden, .hostNotAllowed, .originNotAllowed, .notFound,
        .methodNotAllowed, .targetExists, .confirmationRequired, .preconditionFailed, .tooLarge, .tooManyPages,
        .targetTooLong, .unsupportedMediaType, .badRange, .validationFailed, .damaged, .encrypted, .timedOut,
        .rateLimited,
        .headersTooLarge, .requestTimeout, .internal, .toolMissing, .upstreamBadResponse, .outcomeUnknown,
        .upstreamUnavailable, .offlineWriteRefused, .overloaded, .processingUnavailable, .notInCache,
        .upstreamStorageFull, .storageFailed, .storageFull,
    ]

    /// 400: the request is malformed.
    public static let malformedRequest = ProblemCode("malformed-request", .badRequest, "The request is malformed")
    /// 400: the body is not JSON.
    public static let malformedJSON = ProblemCode("malformed-json", .badRequest, "The body is not JSON")
    /// 400: a parameter is not acceptable.
    public static let invalidParameter = ProblemCode("invalid-parameter", .badRequest, "A parameter is not acceptable")
    /// 401: a session is required.
    public static let sessionRequired = ProblemCode("session-required", .unauthorized, "A session is required")
    /// 401: the session is not known any more.
    public static let sessionExpired = ProblemCode(
        "session-expired",
        .unauthorized,
        "The session is not known any more"
    )
    /// 401: the credentials are not right.
    public static let invalidCredentials = ProblemCode(
        "invalid-credentials",
        .unauthorized,
        "The credentials are not right"
    )
    /// 401: the upstream does not accept its token any more.
    public static let upstreamSessionExpired = ProblemCode(
        "upstream-session-expired",
        .unauthorized,
        "The upstream does not accept its token any more"
    )
    /// 403: guests may not do this.
    public static let guestNotAllowed = ProblemCode("guest-not-allowed", .forbidden, "Guests may not do this")
    /// 403: the upstream does not allow this.
    public static let upstreamForbidden = ProblemCode(
        "upstream-forbidden",
        .forbidden,
        "The upstream does not allow this"
    )
    /// 403: this host name is not served.
    public static let hostNotAllowed = ProblemCode("host-not-allowed", .forbidden, "This host name is not served")
    /// 403: this origin may not write.
    public static let originNotAllowed = ProblemCode("origin-not-allowed", .forbidden, "This origin may not write")
    /// 404: there is nothing here.
    public static let notFound = ProblemCode("not-found", .notFound, "There is nothing here")
    /// 405: the method is not allowed here.
    public static let methodNotAllowed = ProblemCode(
        "method-not-allowed",
        .methodNotAllowed,
        "The method is not allowed here"
    )
    /// 409: the target exists.
    public static let targetExists = ProblemCode("target-exists", .conflict, "The target exists")
    /// 409: a confirmation is required.
    public static let confirmationRequired = ProblemCode(
        "confirmation-required",
        .conflict,
        "A confirmation is required"
    )
    /// 412: it has changed in the meantime.
    public static let preconditionFailed = ProblemCode(
        "precondition-failed",
        .preconditionFailed,
        "It has changed in the meantime"
    )
    /// 413: the body is too large.
    public static let tooLarge = ProblemCode("too-large", .contentTooLarge, "The body is too large")
    /// 413: there are too many pages.
    public static let tooManyPages = ProblemCode("too-many-pages", .contentTooLarge, "There are too many pages")
    /// 414: the request target is too long.
    public static let targetTooLong = ProblemCode("target-too-long", .uriTooLong, "The request target is too long")
    /// 415: the media type is not supported.
    public static let unsupportedMediaType = ProblemCode(
        "unsupported-media-type",
        .unsupportedMediaType,
        "The media type is not supported"
    )
    /// 416: the range cannot be satisfied.
    public static let badRange = ProblemCode("bad-range", .rangeNotSatisfiable, "The range cannot be satisfied")
    /// 422: some fields are not acceptable.
    public static let validationFailed = ProblemCode(
        "validation-failed",
        .unprocessableContent,
        "Some fields are not acceptable"
    )
    /// 422: a file is damaged.
    public static let damaged = ProblemCode("damaged", .unprocessableContent, "A file is damaged")
    /// 422: a file is protected by a password.
    public static let encrypted = ProblemCode("encrypted", .unprocessableContent, "A file is protected by a password")
    /// 422: working on a file took longer than it may.
    public static let timedOut = ProblemCode(
        "timed-out",
        .unprocessableContent,
        "Working on a file took longer than it may"
    )
    /// 429: too many requests.
    public static let rateLimited = ProblemCode(
        "rate-limited",
        .tooManyRequests,
        "Too many requests",
        isRetryable: true
    )
    /// 431: the header is too large.
    public static let headersTooLarge = ProblemCode(
        "headers-too-large",
        .requestHeaderFieldsTooLarge,
        "The header is too large"
    )
    /// 408: the request took too long.
    public static let requestTimeout = ProblemCode(
        "request-timeout",
        .requestTimeout,
        "The request took too long",
        isRetryable: true
    )
    /// 500: something went wrong in Larder.
    public static let `internal` = ProblemCode("internal", .internalServerError, "Something went wrong in Larder")
    /// 501: a program that this needs is not installed.
    public static let toolMissing = ProblemCode(
        "tool-missing",
        .notImplemented,
        "A program that this needs is not installed"
    )
    /// 502: the upstream gave an unusable answer.
    public static let upstreamBadResponse = ProblemCode(
        "upstream-bad-response",
        .badGateway,
        "The upstream gave an unusable answer",
        isRetryable: true
    )
    /// 502: it is not known whether this was carried out.
    public static let outcomeUnknown = ProblemCode(
        "outcome-unknown",
        .badGateway,
        "It is not known whether this was carried out"
    )
    /// 503: upstream cannot be reached.
    public static let upstreamUnavailable = ProblemCode(
        "upstream-unavailable",
        .serviceUnavailable,
        "Upstream cannot be reached",
        isRetryable: true
    )
    /// 503: not possible while the upstream is offline.
    public static let offlineWriteRefused = ProblemCode(
        "offline-write-refused",
        .serviceUnavailable,
        "Not possible while the upstream is offline",
        isRetryable: true
    )
    /// 503: larder is overloaded.
    public static let overloaded = ProblemCode(
        "overloaded",
        .serviceUnavailable,
        "Larder is overloaded",
        isRetryable: true
    )
    /// 503: pictures and documents cannot be worked on now.
    public static let processingUnavailable = ProblemCode(
        "processing-unavailable",
        .serviceUnavailable,
        "Pictures and documents cannot be worked on now",
        isRetryable: true
    )
    /// 504: nothing is stored for this.
    public static let notInCache = ProblemCode(
        "not-in-cache",
        .gatewayTimeout,
        "Nothing is stored for this",
        isRetryable: true
    )
    /// 500: the stored data cannot be read or written.
    public static let storageFailed = ProblemCode(
        "storage-failed",
        .internalServerError,
        "The stored data cannot be read or written",
        isRetryable: true
    )
    /// 507: the disk of the server is full.
    public static let storageFull = ProblemCode("storage-full", .init(code: 507), "The disk of the server is full")
    /// 507: the upstream has no space left.
    public static let upstreamStorageFull = ProblemCode(
        "upstream-storage-full",
        .init(code: 507),
        "The upstream has no space left"
    )
}
