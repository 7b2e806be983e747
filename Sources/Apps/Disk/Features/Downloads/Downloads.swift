import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Logging
import NIOCore
import Screens
import Storage
import Upstream

/// Downloads of files into the store.
struct Downloads: Sendable {
    let disk: Disk
    let queue: DownloadQueue

    private var store: DiskStore { disk.store }
    private var client: YandexDiskClient { disk.client }

    /// `POST /v1/disk/downloads`: fetches a file into the store. Requests for the same version share one download.
    @Sendable func start(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try await request.jsonObject().diskPath("path")
        let account = try await disk.account(of: session)
        let (row, result) = try await disk.item(path, for: account, .useCache)
        let item = row.item
        guard item.kind == .file else {
            throw Problem.validation("/path", "invalid", "path is a folder; only files are downloaded.")
        }
        guard let version = item.version, let size = item.size else { throw client.sizeMissing }
        let isStored = try await disk.files.open(.content, of: item, account: account.id) != nil
        guard isStored || !result.provenance.offline else { throw client.unreachable }
        guard isStored || disk.budget.admits(size) else {
            throw Problem(.tooLarge, "The file is larger than cache.budget_mb has room for.")
        }
        // A download is not addressed before it exists.
        try request.writePreconditions().check(version: nil, of: "The download")
        let new = DownloadJob(
            id: SessionToken.make(),
            account: account.id,
            path: path,
            version: version,
            bytesTotal: size,
            status: isStored ? .done : .queued,
            bytesDone: isStored ? size : 0
        )
        guard let (job, lease) = try await store.share(new, at: disk.clock.now()) else { throw Problem.loggedOut }
        if job.id == new.id, !job.isOver { queue.add(job, lease) }
        return try response(queue.job(job.id) ?? job, request, status: .accepted)
    }

    /// `GET /v1/disk/downloads/{id}`: 202 while it is in progress, 200 after its end.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = session.account
        let id = try request.parameter("id")
        // The queue first: a download that leaves it before the second look is stored by then.
        var found = queue.job(id).flatMap { $0.account == account ? $0 : nil }
        let lag = try await found == nil ? store.users.catchUp() : nil
        if found == nil { found = try store.download(id, account: account) }
        guard let job = found else { throw Problem.notFound("There is no such download.") }
        return try response(job, request, lag, status: job.isOver ? .ok : .accepted)
    }

    private func response(
        _ job: DownloadJob,
        _ request: ScreenRequest,
        _ lag: UserDatabase.Lag? = nil,
        status: HTTPResponse.Status
    ) throws -> ScreenResponse {
        let href: Link = "/v1/disk/downloads/\(job.id)"
        return try disk.response(
            DownloadScreen(job),
            "disk.file",
            links: Links(self: href),
            state: job.isOver ? .content : .loading,
            lag: lag,
            status: status,
            headerFields: request.method == .post ? [.location: href.requestTarget] : [:]
        )
    }
}

struct DownloadRunner: Sendable {
    let disk: Disk

    private var store: DiskStore { disk.store }

    /// Fetches one file into the store. If a connection breaks, another one continues where it stopped.
    ///
    /// - Parameter progress: Is called with the bytes that arrive, and when the download starts again.
    /// - Returns: The event that ends the download.
    func run(_ job: DownloadJob, _ progress: @escaping @Sendable (DownloadJob.Event) -> Void) async
        -> DownloadJob.Event
    {
        guard disk.budget.admits(job.bytesTotal) else { return .failed(.tooLarge) }
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
                if pause > .zero { try? await disk.clock.sleep(pause) }
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
        let account = try await disk.account(job.account)
        let item = try await disk.file(job.path, for: account, policy).0.item
        guard item.version == job.version else { return .failed(.changed) }
        // It may be stored already if the server that had begun it has ended.
        if !store.endsDownloadsWithContents,
            try await disk.files.open(.content, of: item, account: account.id) != nil
        {
            return .stored
        }
        let known = try partial ?? PartialContent(version: job.version, in: store.database.blobs)
        var received = known
        if known.received < job.bytesTotal {
            let parts: ByteStream
            (parts, received) = try await disk.fetcher.missing(
                behind: known,
                of: item,
                size: job.bytesTotal,
                for: account
            )
            if received.received < known.received { progress(.restarted) }
            for try await part in parts {
                try received.append(part)
                partial = received
                progress(.received(bytes: part.readableBytes))
            }
        }
        let blob = try received.finish(as: item)
        partial = nil
        let isStored = try await disk.files.save(
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
        case is FileFetcher.WrongContent: .damaged
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
