import Concurrency
import Foundation
import HTTP
import Logging
import Screens
import Upstream

/// How a write succeeded.
enum WriteOutcome: Sendable {
    /// Done: the new row, or the removed one, and its provenance.
    case done(DiskRow, Provenance)
    /// Done without anything new: an existing link has another end.
    case renewed(DiskRow, Provenance)
    /// The API has accepted it and continues.
    case underWay(DiskOperation)
    /// It was not necessary: this exists already.
    case unneeded(DiskItem)
}

/// Runs writes of the Disk from their preconditions to their outcome. Every write of a client or another app goes
/// through here; the reachability of the API, the token and the outcome are each determined once.
///
/// 1. Unreachable: 503 `offline-write-refused`. Nothing is sent.
/// 2. Writes of one path are serialized: 423 `locked` if another one does not end in time. The preconditions
///    are evaluated: 412 if they do not hold.
/// 3. The request is sent, once; an upload with its link and its bytes. An upload whose response is late, or a write
///    that the API accepts and continues, is followed by its operation.
/// 4. A response decides. Without one, the present state is compared with the intended one: done, not done, or 502
///   `outcome-unknown`.
/// 5. A completed write is applied to the store, then read back from the API. If that fails, the write is still done.
struct WriteExecutor: Sendable {
    private(set) var calls: WriteCalls
    private(set) var items: ItemReader
    private(set) var operations: OperationTracker
    let background: BackgroundTasks
    let clock: WallClock
    let logger: Logger
    /// Serializes writes of one path.
    private let paths = KeyedMutex()

    init(
        calls: WriteCalls,
        items: ItemReader,
        operations: OperationTracker,
        background: BackgroundTasks,
        clock: WallClock,
        logger: Logger
    ) {
        self.calls = calls
        self.items = items
        self.operations = operations
        self.background = background
        self.clock = clock
        self.logger = logger
    }

    /// Returns an executor for one write, whose requests share one opened token.
    private func openingTokenOnce() -> WriteExecutor {
        var executor = self
        let tokens = calls.tokens.forOneWrite()
        executor.calls.tokens = tokens
        executor.items.reader.tokens = tokens
        executor.operations.tokens = tokens
        return executor
    }

    /// Records a write that was found to be carried out.
    ///
    /// - Throws: `StorageError`.
    func settle(_ write: DiskWrite, for account: DiskAccount, _ bytes: UploadedBytes.Summary?) async throws {
        let run = WriteRun(executor: openingTokenOnce(), write: write, account: account)
        _ = try await run.settle(write.found ?? WritePreparation.Before(), bytes)
    }

    /// Runs a write to its end, even if the client disconnects: its outcome must be recorded here.
    ///
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`; `CancellationError` only before anything was sent.
    func run(_ write: DiskWrite, for account: DiskAccount) async throws -> WriteOutcome {
        let keys = [write.path, write.target].compactMap { $0.map { "\(account.id) \($0.text)" } }
        let run = WriteRun(executor: openingTokenOnce(), write: write, account: account)
        let timeout = calls.client.upstream.configuration.totalTimeout
        let isOver: @Sendable () async throws -> Void = { [clock] in try await clock.sleep(timeout) }
        do {
            return try await paths.holding(keys, timeout: isOver) {
                try calls.refuseOffline()
                // Sent beside it, equal bytes would be sent twice.
                if calls.uploads.isAwaited(to: write.path, of: account.id) { throw KeyedMutex.WaitTooLong() }
                return try await items.reader.load.during { try await Task { try await run.run() }.value }
            }
        } catch is KeyedMutex.WaitTooLong {
            throw Problem(.locked, "Another request is changing \(write.path.name). Nothing was changed; try again.")
        }
    }
}
