import Foundation
import HTTPTypes
package import Upstream

extension Problem {
    /// The problem of an upstream that gave nothing usable while nothing is stored.
    ///
    /// A 4xx of the upstream is translated by its status; an app that knows better (a 400 that means "missing")
    /// translates before this.
    /// The details are for developers; users read the title of the code.
    /// - Parameter hasSessions: whether Larder logs in there, so that a 401 means the end of a session
    package init(_ error: UpstreamError, upstream name: String, title: String, hasSessions: Bool = false) {
        switch error {
        case .unreachable:
            self.init(.upstreamUnavailable, .noResponse, offline: true, upstream: UpstreamCause(name: name))
        case .rejected(let status, _):
            self.init(
                Self.code(ofRejection: status, hasSessions: hasSessions),
                "\(title) responded with \(status.code).",
                upstream: UpstreamCause(name: name, status: status.code)
            )
        case .failing(let status, let retryAfter):
            self.init(
                Self.code(ofFailure: status),
                "\(title) responded with \(status.code).",
                upstream: UpstreamCause(name: name, status: status.code),
                headerFields: retryAfter.map { [.retryAfter: String($0)] } ?? [:]
            )
        case .badResponse(let status, let reason):
            self.init(
                .upstreamBadResponse,
                "\(title) sent an unusable response (\(reason)).",
                upstream: UpstreamCause(name: name, status: status?.code)
            )
        case .forbiddenTarget(let target):
            self.init(
                .upstreamBadResponse,
                "\(title) leads to \(target), which upstreams.\(name).allowed_hosts does not allow.",
                upstream: UpstreamCause(name: name)
            )
        case .storageFailed(let isFull):
            self.init(
                isFull ? .storageFull : .storageFailed,
                "\(title) responded, and its response could not be stored."
            )
        case .known(let cause):
            self.init(cause, upstream: name, title: title, hasSessions: hasSessions)
        case .notStored:
            self.init(.notInCache, .nothingStored, upstream: UpstreamCause(name: name))
        }
    }

    /// Returns the code for a 4xx of an upstream.
    private static func code(ofRejection status: HTTPResponse.Status, hasSessions: Bool) -> ProblemCode {
        switch status.code {
        case 401 where hasSessions: .upstreamSessionExpired
        case 403: .upstreamForbidden
        case 404, 410: .notFound
        default: .upstreamBadResponse
        }
    }

    /// Returns the code for a status of an upstream that may succeed later.
    private static func code(ofFailure status: HTTPResponse.Status) -> ProblemCode {
        switch status.code {
        case 429: .rateLimited
        case 507: .upstreamStorageFull
        default: .upstreamUnavailable
        }
    }
}

/// An upstream's failure together with its name, on its way to ``Problem``.
package struct UpstreamFailure: Error, Sendable {
    /// The problem that the client gets.
    package let problem: Problem
    /// The error, now or before (`UpstreamError.cause`).
    package let error: UpstreamError
    package let wasSent: Bool

    /// Names the upstream that failed.
    package init(_ error: UpstreamError, of upstream: Upstream) {
        self.error = error.cause
        wasSent = error.wasSent
        problem = Problem(
            error,
            upstream: upstream.configuration.name,
            title: upstream.configuration.title,
            hasSessions: upstream.configuration.hasSessions
        )
    }
}

extension Upstream {
    /// Runs an operation and turns an `UpstreamError` that it throws into the problem that the client gets.
    ///
    /// - Parameter operation: Uses this upstream.
    /// - Returns: The operation's value.
    /// - Throws: ``UpstreamFailure``, and other errors of the operation.
    package func reportingFailures<Value>(_ operation: () async throws -> Value) async throws -> Value {
        do {
            return try await operation()
        } catch let error as UpstreamError {
            throw UpstreamFailure(error, of: self)
        }
    }
}
