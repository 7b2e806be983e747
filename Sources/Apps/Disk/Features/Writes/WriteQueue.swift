import Concurrency
import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Screens
import Storage
import Upstream

/// Sends writes of clients, or leaves them in the outbox: if the client prefers that to a refusal (RFC 7240,
/// `respond-async`) and the API is away, goes away in the middle, or takes long to finish an upload.
struct WriteQueue: Sendable {
    /// The outcome of a write that was sent, or the operation of one that was queued.
    enum Result: Sendable {
        case sent(WriteOutcome)
        case queued(OutboxEntry<QueuedWrite>)
    }

    /// The bytes of an upload, kept here.
    struct Spooled: Sendable {
        let blob: Blob
        let bytes: QueuedWrite.Bytes
    }

    let writer: WriteExecutor
    let clock: WallClock

    var store: DiskStore { writer.calls.store }

    /// Runs a write of a client, or leaves it.
    ///
    /// - Parameter body: The body of the same request, for the action that a refusal offers.
    /// - Throws: 503 `offline-write-refused`, 423 `locked` if a write that waits concerns the same path, both with that
    ///   action, 507 `outbox-full`; `Problem`, `UpstreamFailure`, `StorageError`.
    func run(
        _ write: DiskWrite,
        _ request: ScreenRequest,
        for account: DiskAccount,
        body: [String: Action.Constant]? = nil
    ) async throws -> Result {
        let draft = QueuedWrite(write)
        let isPreferred = request.headerFields.prefersAsyncResponse
        let isReachable = writer.calls.client.isReachable
        let isHeldUp = draft.map { holdsUp($0, account) } ?? holdsUp(write, account)
        guard let draft, isPreferred else {
            // Sent past a write that waits, it would change something else than the client sees.
            if isHeldUp, isReachable {
                throw Self.heldUp(write.path, actions: draft.map { _ in [.leave(request, body)] })
            }
            do {
                return .sent(try await writer.run(write, for: account))
            } catch var problem as Problem where problem.code == .offlineWriteRefused && draft != nil {
                problem.actions = [.leave(request, body)]
                throw problem
            }
        }
        if isHeldUp || !isReachable { return .queued(try await leave(draft, write, account)) }
        return try await sendOrLeave(draft, write, account)
    }

    /// Sends a write, and leaves it if the API goes away. Of an upload the bytes are kept here first: they arrive once.
    private func sendOrLeave(_ draft: QueuedWrite, _ write: DiskWrite, _ account: DiskAccount) async throws -> Result {
        var write = write
        var spooled: Spooled?
        if case .upload(let parts, let length, let overwrite) = write.kind, length ?? 0 <= free(account.id) {
            let kept = try await spool(parts, length: length, account.id)
            let reader = try store.database.blobs.reader(kept.blob)
            let body = ByteStream(reader, range: 0..<kept.blob.length)
            write.kind = .upload(body, length: kept.blob.length, overwrite: overwrite)
            write.isFollowed = true
            spooled = kept
        }
        let outcome: WriteOutcome
        do {
            outcome = try await writer.run(write, for: account)
        } catch let problem as Problem
            where (problem.code == .offlineWriteRefused || problem.code == .outcomeUnknown)
            && (spooled != nil || draft.kind != .upload)
        {
            let isDoubtful = problem.code == .outcomeUnknown
            do {
                return .queued(try await leave(draft, write, account, spooled, isDoubtful: isDoubtful))
            } catch  where isDoubtful {
                // That it cannot be left says nothing of whether it was carried out.
                throw problem
            }
        }
        guard let spooled, case .underWay(let operation) = outcome else { return .sent(outcome) }
        do {
            let followed = draft.followed(by: operation.upstreamID, since: clock.now())
            return .queued(try await leave(followed, write, account, spooled, isDoubtful: true))
        } catch {
            // It goes on all the same.
            try await store.keep(operation, at: clock.now())
            return .sent(outcome)
        }
    }

    /// Adds a write to the outbox. Its items are checked before the bytes of an upload are read, and again in the
    /// transaction that stores it.
    private func leave(
        _ draft: QueuedWrite,
        _ write: DiskWrite,
        _ account: DiskAccount,
        _ spooled: Spooled? = nil,
        isDoubtful: Bool = false
    ) async throws -> OutboxEntry<QueuedWrite> {
        var spooled = spooled
        if case .upload(let parts, let length, _) = write.kind, spooled == nil {
            try store.database.read { db in
                _ = try store.checked(draft, write, account: account.id, db)
                try store.checkRoom(length ?? 0, account: account.id)
            }
            spooled = try await spool(parts, length: length, account.id)
        }
        let now = clock.now()
        let left = try await store.change(of: account.id, by: .client(upload: spooled?.blob)) {
            [store, spooled] db in
            try store.leaving(
                draft,
                write,
                spooled,
                isDoubtful: isDoubtful,
                account: account.id,
                at: now,
                db
            )
        }
        guard let left else { throw Problem.loggedOut }
        return left
    }

    private func free(_ account: String) -> Int {
        store.settings[DiskApp.outboxBytes] - (store.outbox.queue(of: account)?.bytes ?? 0)
    }

    /// Keeps the bytes of an upload, on the disk, with their checksums.
    private func spool(_ parts: ByteStream, length: Int?, _ account: String) async throws -> Spooled {
        let room = free(account)
        let writer = try store.database.blobs.writer()
        var checksums = UploadChecksums()
        for try await part in parts {
            checksums.update(part)
            guard checksums.count <= room else { throw Problem.outboxFull(store.settings) }
            try part.withUnsafeReadableBytes { try writer.append($0) }
        }
        let blob = try writer.finish(expectedLength: length)
        return Spooled(blob: blob, bytes: checksums.finish(at: clock.now()))
    }

    private func holdsUp(_ draft: QueuedWrite, _ account: DiskAccount) -> Bool {
        store.outbox.isTouched(draft.places, of: account.id)
    }

    /// Whether a pending write touches a path of a write that cannot be queued.
    private func holdsUp(_ write: DiskWrite, _ account: DiskAccount) -> Bool {
        holdsUp(QueuedWrite(kind: .move, path: write.path, to: write.target), account)
    }

    private static func heldUp(_ path: DiskPath, actions: [Action]?) -> Problem {
        Problem(.locked, .heldUp(path.name), href: OutboxScreen.href, actions: actions)
    }
}
