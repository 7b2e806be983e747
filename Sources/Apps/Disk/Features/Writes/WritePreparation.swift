import Concurrency
import Foundation
import Screens
import Upstream

/// Finds the known items at the paths of a write, and evaluates its preconditions.
struct WritePreparation: Sendable {
    /// The items that a write touches, as they are known before it is sent.
    struct Before: Sendable {
        /// The item that it acts on.
        var subject: DiskItem?
        /// The item at its target.
        var place: DiskItem?
    }

    let calls: WriteCalls
    let write: DiskWrite
    let account: DiskAccount
    let clock: WallClock

    private var store: DiskStore { calls.store }

    /// Returns the known items before the write.
    ///
    /// - Throws: 412 if the preconditions do not hold; `Problem`, `UpstreamFailure`, `StorageError`.
    func before() async throws -> Before {
        let known = try store.row(write.path, account: account.id)?.item
        var before = Before(subject: known)
        if needsPresentSubject(known: before.subject) {
            before.subject = try await present(write.path, mayBeMissing: write.isCreation)
        }
        if let path = write.place(of: before.subject) {
            before.place = path == write.path ? known : try store.row(path, account: account.id)?.item
            if before.place == nil, write.needsPlace { before.place = try await present(path, mayBeMissing: true) }
        }
        guard write.conditions != .none else { return before }
        let compared = try await comparedItem(subject: before.subject)
        do {
            try write.conditions.check(subject: before.subject, place: compared)
        } catch {
            // The next read shows the found items, so that its tag is the present one.
            for item in [before.subject, compared].compactMap({ $0 }) where item.path.scheme == .disk {
                try await calls.store.apply(.appeared(item.path, item), account: account.id, at: clock.now())
            }
            throw error
        }
        return before
    }

    private func needsPresentSubject(known: DiskItem?) -> Bool {
        if write.asksForSubject || (write.needsSubject && known == nil) { return true }
        guard case .restore = write.kind else { return false }
        return write.conditions.ifNoneMatch != nil
    }

    /// Returns the item that `If-None-Match` is compared with.
    private func comparedItem(subject: DiskItem?) async throws -> DiskItem? {
        guard write.conditions.ifNoneMatch != nil, let path = write.comparedPlace(of: subject) else { return nil }
        if path == write.path, write.asksForSubject { return subject }
        return try await present(path, mayBeMissing: true)
    }

    /// Returns the present item of the API at a path; nil if there is none and that is allowed.
    private func present(_ path: DiskPath, mayBeMissing: Bool) async throws -> DiskItem? {
        do {
            return try await calls.call(about: path, account) { try await calls.current(path, account) }
        } catch let problem as Problem where problem.code == .notFound && mayBeMissing {
            return nil
        }
    }
}
