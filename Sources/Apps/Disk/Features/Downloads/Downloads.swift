import Foundation
import HTTPTypes
import Logging
import NIOCore
import Screens
public import ServiceLifecycle
import Storage
import Upstream

extension DiskService {
    /// `POST /v1/disk/downloads`: fetches a file into the store. Who asks for the same version while it is under way
    /// shares it.
    @Sendable func startDownload(_ request: ScreenRequest) async throws -> ScreenResponse {
        let path = try await request.jsonObject().diskPath("path")
        let account = try await account(of: request)
        let (row, reading) = try await item(path, account, .useCache)
        let item = row.item
        guard item.kind == .file else {
            throw Problem.validation([.field("/path", "invalid", "path is a folder; only files are downloaded.")])
        }
        guard let version = item.version, let size = item.size else {
            throw UpstreamFailure(.badResponse(status: .ok, reason: "a file without a size"), of: api.upstream)
        }
        let isStored = try await openStored(.content, of: item, account.id) != nil
        guard isStored || !reading.provenance.offline else {
            throw UpstreamFailure(.unreachable(.network), of: api.upstream)
        }
        let new = DownloadJob(
            id: SessionToken.make(),
            account: account.id,
            path: path,
            version: version,
            bytesTotal: size,
            status: isStored ? .done : .queued,
            bytesDone: isStored ? size : 0
        )
        guard let (job, isNew) = try await store.share(new, at: clock.now()) else { throw Self.sessionExpired }
        if isNew, !job.isOver { queue.add(job, run) }
        return try downloadScreen(queue.job(job.id) ?? job, request, status: .accepted)
    }

    /// `GET /v1/disk/downloads/{id}`: 202 while it goes on, 200 once it is over.
    @Sendable func showDownload(_ request: ScreenRequest) async throws -> ScreenResponse {
        let account = try request.requiredSession().account
        let id = try request.parameter("id")
        // First the one under way: between the two looks it can only have ended, and then it is stored.
        guard
            let job = try queue.job(id).flatMap({ $0.account == account ? $0 : nil })
                ?? store.download(id, account: account)
        else {
            throw Problem.notFound("There is no such download.")
        }
        return try downloadScreen(job, request, status: job.isOver ? .ok : .accepted)
    }

    private func downloadScreen(_ job: DownloadJob, _ request: ScreenRequest, status: HTTPResponse.Status) throws
        -> ScreenResponse
    {
        let href = "/v1/disk/downloads/\(job.id)"
        let provenance = Provenance(source: .upstream)
        return try .screen(
            Envelope(
                data: DownloadScreen(job),
                meta: Meta(screen: "disk.file", state: job.isOver ? .content : .loading, provenance: provenance),
                links: Links(self: href)
            ),
            status: status,
            provenance: provenance,
            now: clock.now(),
            headerFields: request.method == .post ? [.location: href] : [:]
        )
    }

    /// Fetches one file into the store. A body that breaks off is asked for once again: the link may have run out, or
    /// the token; then the second try knows.
    @Sendable private func run(_ job: DownloadJob, _ progress: @escaping @Sendable (DownloadJob.Event) -> Void) async
        -> DownloadJob.Event
    {
        guard options.budget.admits(job.bytesTotal) else { return .failed(.tooLarge) }
        var failure = DownloadJob.Failure.unreachable
        for attempt in 0..<2 {
            if attempt > 0 { progress(.restarted) }
            do {
                let account = try await account(job.account)
                let (row, _) = try await fileItem(job.path, account, attempt == 0 ? .useCache : .revalidate)
                guard row.item.version == job.version else { return .failed(.changed) }
                for try await part in try await keeping(row.item, size: job.bytesTotal, account, job: job.id) {
                    progress(.received(bytes: part.readableBytes))
                }
                return .stored
            } catch {
                guard !Task.isCancelled else { return .interrupted }
                guard let next = Self.failure(error) else { return .failed(Self.finalFailure(error)) }
                failure = next
            }
        }
        return .failed(failure)
    }

    /// What a failure means that another try may mend; nil for one that stands.
    private static func failure(_ error: any Error) -> DownloadJob.Failure? {
        switch error {
        case is FileParts.WrongLength, is FileKeeper.WrongContent: .damaged
        case let problem as Problem where problem.code == .upstreamBadResponse: .unreachable
        case is Problem, is UpstreamFailure, is FileKeeper.NotKept, is StorageError: nil
        default: .damaged  // the body broke off
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

    /// Takes up what an earlier run of the server left under way, from its beginning: parts of files are never kept.
    func resumeDownloads() async throws {
        for var job in try store.unfinishedDownloads() {
            _ = job.apply(.interrupted)
            try await store.note(job)
            queue.add(job, run)
        }
    }
}

/// The app's work that outlives requests: downloads go on after a restart, and end with the server.
public struct DiskDownloads: Service {
    private let service: DiskService

    /// The downloads of an app.
    public init(_ service: DiskService) {
        self.service = service
    }

    /// Resumes what was under way, then waits for the end of the server.
    public func run() async throws {
        do {
            try await service.resumeDownloads()
        } catch {
            service.logger.error(
                "downloads could not be resumed; the next start tries again",
                metadata: ["error": "\(error)"]
            )
        }
        try? await gracefulShutdown()
        await service.queue.stop()
    }
}
