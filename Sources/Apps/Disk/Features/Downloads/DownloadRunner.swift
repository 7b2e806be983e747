import Concurrency
import HTTP
import NIOCore
import Screens
import Storage
import Upstream

/// Runs one download.
struct DownloadRunner: Sendable {
    let accounts: DiskAccounts
    let items: ItemReader
    let fetcher: FileFetcher
    let clock: WallClock

    private var store: DiskStore { accounts.store }

    /// Fetches one file into the store. A connection that breaks is followed by another one, which goes on where it
    /// stopped.
    ///
    /// - Parameter progress: Is called with the bytes that arrive, and when the download starts again.
    /// - Returns: The event that ends the download.
    @Sendable func run(_ job: DownloadJob, _ progress: @escaping @Sendable (DownloadJob.Event) -> Void) async
        -> DownloadJob.Event
    {
        guard fetcher.files.budget.admits(job.bytesTotal) else { return .failed(.tooLarge) }
        var partial: PartialContent?
        var attempts = DownloadAttempts()
        var policy = CachePolicy.useCache
        while true {
            let before = partial?.received ?? 0
            do {
                return try await attempt(job, policy, &partial, progress)
            } catch {
                guard !Task.isCancelled else { return .interrupted }
                let received = partial?.received ?? 0
                guard let failure = Self.transientFailure(error, hasBegun: received > 0) else {
                    return .failed(Self.finalFailure(error))
                }
                guard let pause = attempts.pause(after: failure, hasProgressed: received > before) else {
                    return .failed(failure)
                }
                if failure == .damaged, received > 0 {
                    partial = nil
                    progress(.restarted)
                }
                policy = .revalidate
                // Ends early only if the task is cancelled, which the next attempt finds.
                if pause > .zero { try? await clock.sleep(pause) }
            }
        }
    }

    /// Receives the missing bytes of a file, and stores the content.
    private func attempt(
        _ job: DownloadJob,
        _ policy: CachePolicy,
        _ partial: inout PartialContent?,
        _ progress: @escaping @Sendable (DownloadJob.Event) -> Void
    ) async throws -> DownloadJob.Event {
        try Task.checkCancellation()
        let account = try await accounts.account(job.account)
        let item = try await items.file(job.path, for: account, policy).0.item
        guard item.version == job.version else { return .failed(.changed) }
        // It may be here already if the server that had begun it has ended.
        if !store.endsDownloadsWithContents,
            try await fetcher.files.open(.content, of: item, account: account.id) != nil
        {
            return .stored
        }
        let known = try partial ?? PartialContent(version: job.version, in: fetcher.files.store.database.blobs)
        var received = known
        if known.received < job.bytesTotal {
            let parts: ByteStream
            (parts, received) = try await fetcher.missing(behind: known, of: item, size: job.bytesTotal, for: account)
            if received.received < known.received { progress(.restarted) }
            for try await part in parts {
                try received.append(part)
                partial = received
                progress(.received(bytes: part.readableBytes))
            }
        }
        let blob = try received.finish(as: item)
        partial = nil
        let isStored = try await fetcher.files.save(
            .blob(blob),
            as: .content,
            of: item,
            type: item.servedType,
            for: account,
            job: store.endsDownloadsWithContents ? job.id : nil
        )
        return isStored ? .stored : .failed(.changed)
    }

    /// Returns the failure that another attempt may resolve; nil for a final one.
    ///
    /// - Parameter hasBegun: Whether a part of the file is here: then the API was there a moment ago.
    private static func transientFailure(_ error: any Error, hasBegun: Bool) -> DownloadJob.Failure? {
        switch error {
        case is FileKeeper.WrongContent: .damaged
        case let failure as UpstreamFailure where hasBegun && failure.problem.offline: .brokenOff
        case let problem as Problem where problem.code == .upstreamBadResponse: .unreachable
        // The token of another login may be accepted.
        case let problem as Problem where problem.code == .upstreamSessionExpired: .sessionExpired
        case is Problem, is UpstreamFailure, is StorageError: nil
        default: .brokenOff  // The body ended early, with an error or without.
        }
    }

    private static func finalFailure(_ error: any Error) -> DownloadJob.Failure {
        switch error {
        case is StorageError: return .storage
        case let problem as Problem:
            switch problem.code {
            case .upstreamSessionExpired, .sessionExpired: return .sessionExpired
            case .notFound: return .changed
            case .upstreamForbidden: return .forbidden
            default: return .unreachable
            }
        default: return .unreachable
        }
    }
}
