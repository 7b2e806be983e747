import Concurrency
package import Foundation

/// Subjects that could not be drawn lately, so that not every request for one takes as long as a job may.
package final class DrawingFailures: Sendable {
    /// How long a failure is repeated, in seconds: it may have been the load of the machine.
    static let lifetime: TimeInterval = 600

    private let failures = RecentFailures<String, MediaError>(lifetime: lifetime)

    /// Creates a record without failures.
    package init() {}

    /// Draws something, unless that has failed lately: then its failure is repeated.
    ///
    /// - Parameters:
    ///   - subject: Identifies what is drawn by its content; a width or a rotation makes no difference.
    ///   - isPresent: Whether its file is still there after a failure; else the file is not at fault.
    /// - Throws: What `draw` throws, or has thrown.
    package func drawing<Value>(
        _ subject: String,
        at now: @Sendable () -> Date,
        isPresent: () -> Bool = { true },
        _ draw: () async throws -> Value
    ) async throws -> Value {
        if let failure = failures.failure(of: subject, at: now()) { throw failure }
        do {
            return try await draw()
        } catch let error as MediaError {
            if isPresent(), error.isInContent { failures.record(error, of: subject, at: now()) }
            throw error
        }
    }
}

extension MediaError {
    /// Whether the next attempt would fail as well.
    fileprivate var isInContent: Bool {
        switch self {
        case .timedOut, .tooLarge, .damaged, .crashed: true
        default: false
        }
    }
}
