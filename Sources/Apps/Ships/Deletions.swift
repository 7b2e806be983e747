import Cluster
import Concurrency
import Foundation
import HTTP
import Screens
import Storage
import Synchronization
import Upstream

// Deletions and restorations of ships. They are local to the account and never sent to the upstream.
extension ShipsApp {
    /// Most ids that one request may name.
    private static let maximumIDs = 500

    /// `DELETE /v1/ships/{id}`: hides a ship from the account.
    func deleteShip(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let id = try Self.shipID(in: request)
        let preconditions = request.writePreconditions()
        _ = try await store.users.catchUp()
        _ = try ship(id, visibleTo: session)
        // Another request of the same account may have deleted it since.
        let (counts, response) = try await request.answering { (counts: ShipPage.Counts?) in
            guard let counts else { throw Self.deleted }
            return try Self.response([id], counts, to: request, [.undoDeletion(of: id)])
        } to: {
            try await store.hide(id, account: session.account, if: preconditions)
        }
        lastChange.advance(to: clock.now())
        if let counts { publishChange(counts.revision, to: session.account) }
        return response
    }

    /// `POST /v1/ships/restore`: restores all ships that the account deleted, or those of `{"ids": […]}`; other ids are
    /// ignored.
    func restoreShips(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let ids = try await request.optionalJSONObject()?.strings("ids")?.map { ItemPaths.identity($0) ?? $0 }
        guard ids?.count ?? 0 <= Self.maximumIDs else {
            throw Problem.validation([.field("/ids", "too-long", .tooManyIDs(Self.maximumIDs))])
        }
        return try await request.answering { (outcome: (restored: [String], counts: ShipPage.Counts)) in
            try Self.response(outcome.restored, outcome.counts, to: request)
        } to: {
            try await restore(ids, for: session.account, if: request.writePreconditions())
        }.response
    }

    /// Whether ``listWasRefreshed(_:)`` may have something to restore after a read that was served from the store.
    func mustRestore(after result: ReadResult) -> Bool {
        guard settings[Self.deletion] == .literal, let validatedAt = result.provenance.validatedAt else { return false }
        return lastChange.isBefore(validatedAt)
    }

    /// Restores the deleted ships of every account in literal mode, if a refresh fetched the list since they were
    /// deleted; nothing in the other mode. If they cannot be written at present, the next refresh does it.
    ///
    /// - Throws: `StorageError` other than a full disk, `CancellationError`.
    func listWasRefreshed(_ result: ReadResult) async throws {
        guard settings[Self.deletion] == .literal else { return }
        // A response that was fetched after its request gave up waiting counts when it is first read.
        let isNew = result.response.map { lastChange.advance(to: $0.head.responseTime) } ?? false
        guard isNew || result.provenance.isValidatedNow else { return }
        do {
            for account in try store.accountsWithHiddenShips() { _ = try await restore(nil, for: account) }
        } catch  where UserDatabase.isTemporary(error) {
            return
        }
    }

    private func restore(_ ids: [String]?, for account: String, if preconditions: WritePreconditions = .none)
        async throws
        -> (restored: [String], counts: ShipPage.Counts)
    {
        let (restored, counts) = try await store.restore(ids, account: account, if: preconditions)
        if !restored.isEmpty { publishChange(counts.revision, to: account) }
        return (restored, counts)
    }

    /// Publishes a new revision of the list.
    ///
    /// - Parameter account: That which sees the change; nil for all.
    func publishChange(_ revision: Int, to account: String? = nil) {
        let audience = account.map { ServerEvent.Audience.account(app: Self.name, account: $0) } ?? .app(Self.name)
        events.publish(["ships.list"], of: Self.name, revision, to: audience)
    }

    private static func response(
        _ ids: [String],
        _ counts: ShipPage.Counts,
        to request: ScreenRequest,
        _ actions: [Action] = []
    ) throws -> ScreenResponse {
        try .local(
            ShipChangeScreen(ids: ids, revision: counts.revision, hiddenCount: counts.hidden, actions: actions),
            "ships.list",
            request,
            revision: counts.revision,
            selfLink: "/v1/ships"
        )
    }
}

/// A date that only moves forward.
final class LatestDate: Sendable {
    private let date: Mutex<Date>

    init(_ date: Date) { self.date = Mutex(date) }

    /// Whether it is before `other`.
    func isBefore(_ other: Date) -> Bool { date.withLock { $0 < other } }

    /// Moves the date forward.
    ///
    /// - Returns: False if it is not before `other`.
    @discardableResult
    func advance(to other: Date) -> Bool {
        date.withLock { date in
            guard other > date else { return false }
            date = other
            return true
        }
    }
}
