import Concurrency
import Database
import NIOCore
import ResponseStore
import Screens
import Upstream

/// Runs one download.
struct DownloadRunner: Sendable {
    let accounts: DiskAccounts
    let items: ItemReader
    let fetcher: FileFetcher
    let book: any JobBook

    /// Fetches one file into the store. A body that breaks off is requested once more: the link or the token may have
    /// expired, which the second attempt finds out.
    ///
    /// - Parameter progress: Is called with the bytes that arrive, and when the download starts again.
    /// - Returns: The event that ends the download.
    @Sendable func run(_ job: DownloadJob, _ progress: @escaping @Sendable (DownloadJob.Event) -> Void) async
        -> DownloadJob.Event
    {
        guard fetcher.files.budget.admits(job.bytesTotal) else { return .failed(.tooLarge) }
        var failure = DownloadJob.Failure.unreachable
        for attempt in 0..<2 {
            if attempt > 0 { progress(.restarted) }
            do {
                let account = try await accounts.account(job.account)
                let (row, _) = try await items.file(job.path, for: account, attempt == 0 ? .useCache : .revalidate)
                guard row.item.version == job.version else { return .failed(.changed) }
                // It may be here already if the server that had begun it has ended.
                if !book.endsWithContent,
                    try await fetcher.files.open(.content, of: row.item, account: account.id) != nil
                {
                    return .stored
                }
                let body = try await fetcher.whole(
                    of: row.item,
                    size: job.bytesTotal,
                    for: account,
                    mustBeKept: true,
                    ending: book.endsWithContent ? job.id : nil
                )
                for try await part in body { progress(.received(bytes: part.readableBytes)) }
                return .stored
            } catch {
                guard !Task.isCancelled else { return .interrupted }
                guard let next = Self.transientFailure(error) else { return .failed(Self.finalFailure(error)) }
                failure = next
            }
        }
        return .failed(failure)
    }

    /// Returns the failure that another attempt may resolve; nil for a final one.
    private static func transientFailure(_ error: any Error) -> DownloadJob.Failure? {
        switch error {
        case is FileParts.WrongLength, is FileKeeper.WrongContent: .damaged
        case let problem as Problem where problem.code == .upstreamBadResponse: .unreachable
        // The token of another login may be accepted.
        case let problem as Problem where problem.code == .upstreamSessionExpired: .sessionExpired
        case is Problem, is UpstreamFailure, is FileKeeper.NotKept, is StorageError: nil
        default: .damaged  // The body broke off.
        }
    }

    private static func finalFailure(_ error: any Error) -> DownloadJob.Failure {
        switch error {
        case is FileKeeper.NotKept: return .changed
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
