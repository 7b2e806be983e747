package import Foundation
import Synchronization

/// Failures of recent attempts, by subject, so that not every request repeats an attempt that has failed.
package final class RecentFailures<Subject: Hashable & Sendable, Failure: Error>: Sendable {
    /// Largest number of failures that are remembered.
    private static var maximum: Int { 1000 }

    private let lifetime: TimeInterval
    private let failures = Mutex<[Subject: (failure: Failure, until: Date)]>([:])

    /// - Parameter lifetime: How long a failure is remembered, in seconds.
    package init(lifetime: TimeInterval) { self.lifetime = lifetime }

    /// Returns the failure of a recent attempt; nil if the subject may be tried.
    package func failure(of subject: Subject, at now: Date) -> Failure? {
        failures.withLock { failures in
            guard let known = failures[subject] else { return nil }
            if isRecent(known.until, at: now) { return known.failure }
            failures[subject] = nil
            return nil
        }
    }

    package func record(_ failure: Failure, of subject: Subject, at now: Date) {
        failures.withLock { failures in
            if failures.count >= Self.maximum {
                failures = failures.filter { isRecent($0.value.until, at: now) }
                if failures.count >= Self.maximum { failures.removeAll() }
            }
            failures[subject] = (failure, now.addingTimeInterval(lifetime))
        }
    }

    package func forget(_ subject: Subject) { failures.withLock { $0[subject] = nil } }

    package func forgetAll() { failures.withLock { $0 = [:] } }

    /// A failure that ends later than any can was recorded before the clock was set back.
    private func isRecent(_ until: Date, at now: Date) -> Bool {
        until > now && until.timeIntervalSince(now) <= lifetime
    }
}
