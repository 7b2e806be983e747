import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

struct DiskRefusal: Error, Sendable, Equatable {
    let status: Int
    /// The API's error code, such as `DiskNotFoundError`; empty if it sent none.
    let code: String
    /// The right that the call needs, if it was refused for want of one.
    var right: DiskRight?

    /// Whether it says that nothing is at the requested path. Other codes with 404 and 410 are about an operation, a
    /// route or a version of the API.
    var isGone: Bool { (status == 404 || status == 410) && code == "DiskNotFoundError" }

    /// Whether it says that the parent folder of the result is missing.
    var isOfParent: Bool { status == 409 && code == "DiskPathDoesntExistsError" }

    /// Whether it says that the settings of a link are not available, rather than that the call may succeed later.
    var concernsSettings: Bool { [400, 403, 404, 405, 410].contains(status) }

    /// Whether it says that something is at the place of a write. An uploader sends no code.
    var saysThatTargetExists: Bool {
        status == 409 && (code.isEmpty || code.contains("Exist") && code != "DiskPathDoesntExistsError")
    }
}

/// A right that a token may have (scopes of Yandex OAuth).
enum DiskRight: String, Sendable {
    case info = "cloud_api:disk.info"
    case read = "cloud_api:disk.read"
    case write = "cloud_api:disk.write"
}

extension DiskRefusal {
    /// Returns the refusal of a call that needs a right.
    func needing(_ right: DiskRight) -> DiskRefusal {
        var refusal = self
        if status == HTTPResponse.Status.forbidden.code { refusal.right = right }
        return refusal
    }

    /// Parses a refusal in the API's form, `{"error": "DiskNotFoundError", "description": "…", "message": "…"}`; nil
    /// for another body.
    ///
    /// Yandex publishes no list of codes: a code is a word of ASCII letters and digits that begins with a capital
    /// letter. Web frameworks send phrases instead.
    init?(_ status: HTTPResponse.Status, _ body: [UInt8]) {
        guard let code = (try? JSONDecoder().decode(ErrorRecord.self, from: Data(body)))?.error,
            let first = code.utf8.first,
            (0x41...0x5A).contains(first), code.utf8.allSatisfy(ASCIISet.alphanumerics.contains)
        else { return nil }
        self.init(status: status.code, code: code)
    }

    /// Extracts the refusal from an error of a read or a write; nil for another error.
    init?(_ error: any Error) {
        switch error {
        case UpstreamError.rejected(let status, let body):
            self = DiskRefusal(status, body) ?? DiskRefusal(status: status.code, code: "")
        case let refusal as DiskRefusal: self = refusal
        default: return nil
        }
    }
}

extension YandexDiskClient {
    /// The form of the API's refusals of calls.
    static let errors = ErrorForm { DiskRefusal($0.status, $0.body) != nil }

    /// The form of refusals of reads. A lock says nothing about the state of the item, so a stored copy is shown.
    static let errorsOfReads = ErrorForm(passing: [locked]) { DiskRefusal($0.status, $0.body) != nil }

    /// The form of refusals of reads of items that certainly exist, so that "not found" is a failure. Such items are
    /// the root, and those that the API has acknowledged lately (``YoungWrites``).
    static let errorsOfPresent = ErrorForm(passing: [locked]) { response in
        guard response.status != .notFound, response.status != .gone else { return false }
        return DiskRefusal(response.status, response.body) != nil
    }

    /// 423: another operation of the API holds the item.
    static let locked = 423

    /// Returns a failure of the API as the app reports it.
    func failure(_ error: UpstreamError) -> UpstreamFailure { UpstreamFailure(error, of: upstream) }

    /// Names the API as the cause of a problem.
    func cause(_ status: Int? = nil) -> Problem.UpstreamCause {
        Problem.UpstreamCause(name: upstream.configuration.name, status: status)
    }

    /// 503: the API is unreachable.
    var unreachable: UpstreamFailure { failure(.unreachable(.network)) }

    /// 504: nothing is stored that could be returned.
    var notStored: UpstreamFailure { failure(.notStored) }

    /// 502: a file without a size or version, which cannot be fetched.
    var sizeMissing: UpstreamFailure { failure(.badResponse(status: .ok, reason: "a file without a size")) }

    /// 503: the API has acknowledged something and does not show it yet (``YoungWrites``).
    var notShownYet: Problem {
        Problem(
            .upstreamUnavailable,
            .notShownYet,
            upstream: cause(HTTPResponse.Status.notFound.code),
            headerFields: [.retryAfter: "30"]
        )
    }

    /// Translates an error of a request into a problem of this app. Other errors are returned unchanged.
    ///
    /// - Parameters:
    ///   - hasPath: Whether the request is about a path, or about an item of a known path.
    ///   - right: The right that a read needs; calls name their own.
    func translated(_ error: any Error, hasPath: Bool = true, right: DiskRight = .read) -> any Error {
        if let refusal = DiskRefusal(error) {
            return (refusal.right == nil ? refusal.needing(right) : refusal).problem(upstream, hasPath: hasPath)
        }
        if case UpstreamError.failing(let status, _) = error, status.code == Self.locked {
            return DiskRefusal(status: status.code, code: "").problem(upstream)
        }
        return (error as? UpstreamError).map { failure($0) } ?? error
    }

    /// Returns the reason why a stored response that replaces the API's has no rows: another page was made of it, or
    /// its rows are gone. Nil if another request may help.
    func absence(_ result: ReadResult, at now: Date) -> UpstreamFailure? {
        let provenance = result.provenance
        if provenance.offline { return unreachable }
        guard provenance.stale,
            let status = provenance.cacheStatus?.forwardStatus.map({ HTTPResponse.Status(code: $0) })
        else { return nil }
        if status.kind == .serverError || status == .requestTimeout || status == .tooManyRequests {
            let retryAfter = result.provenance.pausedUntil.map { Int($0.timeIntervalSince(now).rounded(.up)) }
            return failure(.failing(status: status, retryAfter: retryAfter))
        }
        return failure(.badResponse(status: status, reason: "not what Yandex Disk promises"))
    }
}

extension DiskRefusal {
    /// Translates a refusal into a problem: by status first, then by the API's error code, since Yandex publishes no
    /// list of codes.
    func problem(_ upstream: Upstream, hasPath: Bool = true) -> Problem {
        let kind: (ProblemCode, Text) =
            switch (status, code) {
            case (400, "DiskPathFormatError"): (.invalidParameter, .pathRefused)
            case (400, _): (.invalidParameter, .requestRefused(code))
            case (401, _): (.upstreamSessionExpired, .tokenRefused)
            case (403, "DiskSymlinkPasswordRequiredError"): (.upstreamForbidden, .passwordRequired)
            case (403, "DiskUnsupportedUserAccountTypeError"): (.upstreamForbidden, .accountTypeRefused)
            case (403, _): (.upstreamForbidden, .notAllowed(right ?? .read))
            case (404, "DiskOperationNotFoundError"): (.notFound, .operationForgotten)
            case (404, _), (410, _): (.notFound, hasPath ? .nothingThere : .noSuchList)
            case (406, _), (415, _): (.upstreamForbidden, .formRefused)
            case (409, "DiskPathDoesntExistsError"): (.notFound, .noParent)
            case (409, "DiskPathPointsToRootError"): (.upstreamForbidden, .rootRefused)
            case (409, "MD5DifferError"), (412, _): (.preconditionFailed, .hasChanged)
            case (409, _) where code.contains("Exist"): (.targetExists, .nameExists)
            case (413, _): (.tooLarge, .tooLarge)
            case (423, "DiskUploadTrafficLimitExceeded"): (.uploadLimit, .uploadLimitReached)
            // An uploader refuses without a code.
            case (423, "DiskResourceLockedError"), (423, ""): (.locked, .inUse)
            // The documentation has this status for maintenance, and no code.
            case (423, _): (.upstreamReadOnly, .readOnly)
            case (409, _): (.upstreamForbidden, .notAllowedNow(code))
            default: (.upstreamBadResponse, "Yandex Disk responded with \(status).")
            }
        return Problem(
            kind.0,
            kind.1,
            upstream: .init(name: upstream.configuration.name, status: status),
            headerFields: kind.0 == .upstreamReadOnly ? [.retryAfter: "600"] : [:]
        )
    }
}

extension Problem {
    /// 401: the account of the session was logged out.
    static let loggedOut = Problem(.sessionExpired, .loggedOut)
}
