import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

extension YandexDiskClient {
    /// Returns a failure of the API as the app reports it.
    func failure(_ error: UpstreamError) -> UpstreamFailure { UpstreamFailure(error, of: upstream) }

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
            .notShownYet(title),
            upstream: .init(name: upstream.configuration.name, status: HTTPResponse.Status.notFound.code),
            headerFields: [.retryAfter: "30"]
        )
    }

    /// Translates an error of a request into a problem of this app. Other errors are returned unchanged.
    ///
    /// - Parameter hasPath: Whether the request is about a path, or about an item of a known path.
    func translated(_ error: any Error, hasPath: Bool = true) -> any Error {
        if let refusal = DiskRefusal(error) { return refusal.problem(upstream, hasPath: hasPath) }
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
        return failure(.badResponse(status: status, reason: "not what \(title) promises"))
    }
}

extension DiskRefusal {
    /// Translates a refusal into a problem: by status first, then by the API's error code, since Yandex publishes no
    /// list of codes.
    func problem(_ upstream: Upstream, hasPath: Bool = true) -> Problem {
        let title = upstream.configuration.title
        let kind: (ProblemCode, Text) =
            switch (status, code) {
            case (400, "DiskPathFormatError"): (.invalidParameter, .pathRefused(title))
            case (400, _): (.invalidParameter, .requestRefused(title, code))
            case (401, _): (.upstreamSessionExpired, .tokenRefused(title))
            case (403, "DiskSymlinkPasswordRequiredError"): (.upstreamForbidden, .passwordRequired)
            case (403, "DiskUnsupportedUserAccountTypeError"): (.upstreamForbidden, .accountTypeRefused(title))
            case (403, _): (.upstreamForbidden, .notAllowed(title))
            case (404, "DiskOperationNotFoundError"): (.notFound, .operationForgotten(title))
            case (404, _), (410, _): (.notFound, hasPath ? .nothingThere(title) : .noSuchList(title))
            case (406, _), (415, _): (.upstreamForbidden, .formRefused(title))
            case (409, "DiskPathDoesntExistsError"): (.notFound, .noParent)
            case (409, "DiskPathPointsToRootError"): (.upstreamForbidden, .rootRefused)
            case (409, "MD5DifferError"), (412, _): (.preconditionFailed, .hasChanged(title))
            case (409, _) where code.contains("Exist"): (.targetExists, .nameExists)
            case (413, _): (.tooLarge, .tooLarge(title))
            case (423, "DiskUploadTrafficLimitExceeded"): (.uploadLimit, .uploadLimitReached(title))
            // An uploader refuses without a code.
            case (423, "DiskResourceLockedError"), (423, ""): (.locked, .inUse(title))
            // The documentation has this status for maintenance, and no code.
            case (423, _): (.upstreamReadOnly, .readOnly(title))
            case (409, _): (.upstreamForbidden, .notAllowedNow(title, code))
            default: (.upstreamBadResponse, .responded(title, status))
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
