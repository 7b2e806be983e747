import Foundation
import Media
import Synchronization

/// Pages that could not be drawn lately, so that not every request for one of them takes as long as a job may.
final class DrawingFailures: Sendable {
    /// How long a failure is repeated: it may have been the load of the machine.
    static let lifetime: TimeInterval = 600
    /// The most failures that are kept.
    static let maximum = 1000

    private struct Failure {
        let error: MediaError
        let until: Date
    }

    /// By the content of the page: a width or a rotation makes no difference.
    private let failures = Mutex<[String: Failure]>([:])

    /// Returns why a page could not be drawn; nil if it may be tried.
    func failure(of page: DocumentPage, at now: Date) -> MediaError? {
        failures.withLock { failures in
            guard let failure = failures[page.content] else { return nil }
            if failure.until > now { return failure.error }
            failures[page.content] = nil
            return nil
        }
    }

    /// Records that a page could not be drawn; errors that are not in the page are not recorded.
    func record(_ error: MediaError, of page: DocumentPage, at now: Date) {
        switch error {
        case .timedOut, .tooLarge, .damaged, .crashed: break
        default: return
        }
        failures.withLock { failures in
            if failures.count >= Self.maximum {
                failures = failures.filter { $0.value.until > now }
                if failures.count >= Self.maximum { failures.removeAll() }
            }
            failures[page.content] = Failure(error: error, until: now.addingTimeInterval(Self.lifetime))
        }
    }
}
