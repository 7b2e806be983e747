import Cluster
import Concurrency
import Foundation
import GRDB
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// The writes that wait for the API, as screens. None of them needs it.
struct OutboxRequests: Sendable {
    let disk: Disk
    let sender: OutboxSender

    private static let list = PagedList("disk.outbox", key: [.integer])

    private var store: DiskStore { disk.store }

    /// `GET /v1/disk/outbox`: the operations in the outbox, in order.
    @Sendable func list(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let asked = try request.query.page(of: Self.list, defaultLimit: 20)
        let timeZone = try request.timeZone(fallback: disk.timeZone)
        let changeToken = store.changeToken(account: session.account)
        let account = try await disk.account(of: session)
        let queue = store.outbox.queue(of: account.id) ?? OutboxQueue()
        let last = asked.key?[0].integer ?? 0
        let behind = queue.entries.dropFirst(queue.entries.position(of: last &+ 1))
        let rest = behind.dropFirst(asked.offset)
        let entries = rest.prefix(asked.limit)
        let shown = Page(asked, count: entries.count, total: queue.entries.count, hasMore: rest.count > entries.count)
        let pauseEnd = sender.pauseEnd(of: account.id)
        let screen = OutboxScreen(
            entries.map { self.screen(of: $0, pauseEnd: pauseEnd, timeZone) },
            bytes: queue.bytes,
            isEmpty: queue.entries.isEmpty,
            limits: (store.settings[DiskApp.outboxBytes], store.settings[DiskApp.outboxOperations])
        )
        let isRunning = entries.contains { $0.progress.state == .running }
        return try .local(
            screen,
            meta(queue.entries.isEmpty ? .empty : .content, store.pendingWrites(of: account.id), page: shown),
            request.links(for: shown, next: entries.last.map { Self.list.cursor(after: [.integer($0.number)]) }),
            // The progress of an upload, and a pause, change without a write of the store.
            changeToken: isRunning || pauseEnd != nil ? nil : changeToken
        )
    }

    /// `GET /v1/disk/outbox/{id}`: one of them, or one that is done.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try await disk.account(of: session)
        let shown = try await entry(request, account)
        return try response(OutboxOutcome(entry: shown, pending: store.pendingWrites(of: account.id)), request)
    }

    /// `DELETE /v1/disk/outbox/{id}`: takes back one that has not been sent.
    @Sendable func takeBack(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try await change(request, session, removed) { entry, _ in
            guard entry.progress.canBeTakenBack else {
                throw Problem(.outboxState, Self.notUnsent(entry.progress.state))
            }
            try checkIsLast(entry)
            return [.remove(entry)]
        }
    }

    /// `POST /v1/disk/outbox/{id}/retry`: tries one now.
    @Sendable func retry(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try await change(request, session) { entry, _ in
            guard entry.progress.canBeRetried else {
                throw Problem(.outboxState, Self.notRetried(entry.progress.state))
            }
            var entry = entry
            _ = entry.progress.apply(.retried, at: disk.clock.now())
            return [.put(entry)]
        }
    }

    /// `POST /v1/disk/outbox/{id}/resolve`: ends a conflict.
    @Sendable func resolve(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let choice = try await request.jsonObject().choice("how", of: ConflictChoice.self)
        return try await change(request, session) { entry, queue in
            guard entry.progress.state == .conflict, choice.isPossible(for: entry.work) else {
                throw Problem(.outboxState, Self.notResolved(entry.progress.state, choice))
            }
            if choice == .discard {
                try checkIsLast(entry)
                var entry = entry
                // Its bytes are deleted; a client can still ask for its outcome.
                entry.progress = OutboxProgress(state: .done, attempts: entry.progress.attempts, reason: "discarded")
                return [.put(entry)]
            }
            return store.resolved(entry, choice, queue, at: disk.clock.now())
        }
    }
}

// Steps that several routes use.
extension OutboxRequests {
    private func entry(_ request: ScreenRequest, _ account: DiskAccount) async throws -> OutboxEntry<QueuedWrite> {
        let id = try request.parameter("id")
        if let entry = store.outbox.entry(id, of: account.id) { return entry }
        guard let finished = try store.finished(id, account: account.id) else {
            throw Problem.notFound("There is no such operation in the outbox.")
        }
        return finished
    }

    /// Changes the operation of a request, based on its state within the transaction, which stores the response, too.
    ///
    /// - Parameter response: Makes it of the changed operation, or of its last state if it was removed; nil for the
    ///   screen of the operation.
    private func change(
        _ request: ScreenRequest,
        _ session: Session,
        _ response: (@Sendable (OutboxOutcome) throws -> ScreenResponse)? = nil,
        _ body:
            @Sendable @escaping (OutboxEntry<QueuedWrite>, OutboxQueue<QueuedWrite>) throws
            -> [OutboxChange<QueuedWrite>]
    ) async throws -> ScreenResponse {
        if response == nil { _ = try request.timeZone(fallback: disk.timeZone) }
        let account = try await disk.account(of: session)
        let id = try await entry(request, account).id
        return try await request.answering { (outcome: OutboxOutcome?) in
            guard let outcome else { throw Problem.loggedOut }
            return try response?(outcome) ?? self.response(outcome, request)
        } to: {
            try await store.change(of: account.id, by: .user) { [store] _ in
                guard let queue = store.outbox.queue(of: account.id), let entry = store.outbox.entry(id, of: account.id)
                else { throw Problem(.outboxState, Self.notUnsent(.done)) }
                return OutboxDecision(changes: try body(entry, queue), shown: entry)
            }
        }.response
    }

    /// Checks that no later write needs an operation that is dropped.
    private func checkIsLast(_ entry: OutboxEntry<QueuedWrite>) throws {
        if let refusal = refusalToDrop(entry) { throw Problem(.outboxState, refusal, href: OutboxScreen.href) }
    }

    /// Returns that later writes need an operation; nil if none does.
    private func refusalToDrop(_ entry: OutboxEntry<QueuedWrite>) -> Text? {
        let touching = store.outbox.touching(entry.work.places, of: entry.account)
        let later = touching.count { $0.number > entry.number }
        return later == 0 ? nil : .laterWrites(later)
    }

    private func meta(_ state: ScreenState, _ pending: Meta.PendingWrites?, page: Page? = nil) -> Meta {
        Meta(screen: "disk.outbox", state: state, provenance: .local, page: page, pending: pending)
            .lagging(store.users.lag)
    }

    private func response(_ outcome: OutboxOutcome, _ request: ScreenRequest) throws -> ScreenResponse {
        let (entry, timeZone) = (outcome.entry, try request.timeZone(fallback: disk.timeZone))
        let screen = self.screen(of: entry, pauseEnd: sender.pauseEnd(of: entry.account), timeZone)
        return try .local(screen, meta(.content, outcome.pending), Links(self: OutboxScreen.href(of: entry.id)))
    }

    private func screen(of entry: OutboxEntry<QueuedWrite>, pauseEnd: Date?, _ timeZone: TimeZone)
        -> OutboxOperationScreen
    {
        OutboxOperationScreen(
            entry,
            sent: sender.sent(entry.id),
            pauseEnd: pauseEnd,
            refusalToDrop: refusalToDrop(entry),
            timeZone: timeZone
        )
    }

    @Sendable private func removed(_ outcome: OutboxOutcome) throws -> ScreenResponse {
        let screen = RemovalScreen(path: outcome.entry.work.path.text, back: OutboxScreen.href)
        return try .local(screen, meta(.content, outcome.pending), Links(self: OutboxScreen.href))
    }

    private static func notUnsent(_ state: OutboxState) -> Text {
        "Its state is \(state.rawValue): only what has certainly not been sent, failed or is aside is taken back."
    }

    private static func notRetried(_ state: OutboxState) -> Text {
        "Its state is \(state.rawValue): only what is waiting, aside or failed is tried again."
    }

    private static func notResolved(_ state: OutboxState, _ choice: ConflictChoice) -> Text {
        "Its state is \(state.rawValue), and \(choice.rawValue) is not one of the actions that are enabled."
    }
}

extension OutboxProgress {
    /// Whether the user can take it back: it has certainly not been carried out, or the user decides about it.
    var canBeTakenBack: Bool { isUnsent || state == .failed || state == .aside }

    /// Whether the user can ask for another attempt now.
    var canBeRetried: Bool { state == .waiting || state == .failed || state == .aside }
}

// How conflicts end.
extension DiskStore {
    /// Returns the changes that end a conflict other than by dropping the write. If the write gets another name, later
    /// writes to the old name are changed to the new one.
    func resolved(
        _ entry: OutboxEntry<QueuedWrite>,
        _ choice: ConflictChoice,
        _ queue: OutboxQueue<QueuedWrite>,
        at now: Date
    ) -> [OutboxChange<QueuedWrite>] {
        var resolved = entry
        _ = resolved.progress.apply(.retried, at: now)
        guard choice == .keepBoth else {
            resolved.work = entry.work.overwriting()
            return [.put(resolved)]
        }
        let (old, new) = (entry.work.target, freeName(entry, queue))
        resolved.work = entry.work.renamed(to: new)
        let touching = outbox.touching([old], of: entry.account)
        let later = touching.filter { $0.number > entry.number }.compactMap { later in
            later.work.relocated(from: old, to: new).map { work in
                var moved = later
                moved.work = work
                return OutboxChange.put(moved)
            }
        }
        return [.put(resolved)] + later
    }

    /// Returns the first name that nothing known has; the API is asked when the write is sent.
    private func freeName(_ entry: OutboxEntry<QueuedWrite>, _ queue: OutboxQueue<QueuedWrite>) -> DiskPath {
        let tree = queue.view.tree
        let isFile = entry.work.local?.kind == .file
        var number = 2
        while number < 1000 {
            let path = entry.work.target.numbered(number, isFile: isFile)
            switch tree.item(at: path) {
            case .nothing: return path
            case .upstream(let source, _):
                // A failing read cannot happen within the transaction that has read already.
                if (try? item(source, account: entry.account)) ?? nil == nil { return path }
            case .made: break
            }
            number += 1
        }
        return entry.work.target.numbered(number, isFile: isFile)
    }
}
