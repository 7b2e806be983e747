public import Foundation
import Synchronization

/// What could not be drawn lately, so that not every request for it takes as long as a job may.
public final class DrawingFailures: Sendable {
    /// How long a failure is repeated: it may have been the load of the machine.
    static let lifetime: TimeInterval = 600
    /// The most failures that are kept.
    static let maximum = 1000

    private struct Failure {
        let error: MediaError
        let until: Date
    }

    private let failures = Mutex<[String: Failure]>([:])

    /// Creates a record without failures.
    public init() {}

    /// Draws something, unless that has failed lately: then its failure is repeated.
    ///
    /// - Parameters:
    ///   - subject: Identifies what is drawn by its content; a width or a rotation makes no difference.
    ///   - isPresent: Whether its file is still there after a failure; else the file is not at fault.
    /// - Throws: What `draw` throws, or has thrown.
    public func drawing<Value>(
        _ subject: String,
        at now: @Sendable () -> Date,
        isPresent: () -> Bool = { true },
        _ draw: () async throws -> Value
    ) async throws -> Value {
        if let failure = failure(of: subject, at: now()) { throw failure }
        do {
            return try await draw()
        } catch let error as MediaError {
            if isPresent() { record(error, of: subject, at: now()) }
            throw error
        }
    }

    /// Returns why something could not be drawn; nil if it may be tried.
    func failure(of subject: String, at now: Date) -> MediaError? {
        failures.withLock { failures in
            guard let failure = failures[subject] else { return nil }
            if failure.until > now { return failure.error }
            failures[subject] = nil
            return nil
        }
    }

    /// Records that something could not be drawn; errors that are not in its content are not recorded.
    func record(_ error: MediaError, of subject: String, at now: Date) {
        switch error {
        case .timedOut, .tooLarge, .damaged, .crashed: break
        default: return
        }
        failures.withLock { failures in
            if failures.count >= Self.maximum {
                failures = failures.filter { $0.value.until > now }
                if failures.count >= Self.maximum { failures.removeAll() }
            }
            failures[subject] = Failure(error: error, until: now.addingTimeInterval(Self.lifetime))
        }
    }
}
