import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// Downloads of files into the store.
struct Downloads: Sendable {
    let accounts: DiskAccounts
    let items: ItemReader
    let files: StoredFiles
    let runner: DownloadRunner
    let queue: DownloadQueue
    let clock: WallClock

    private var store: DiskStore { accounts.store }
    private var client: YandexDiskClient { accounts.reader.client }

    /// `POST /v1/disk/downloads`: fetches a file into the store. Requests for the same version share one download.
    @Sendable func start(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try await request.jsonObject().diskPath("path")
        let account = try await accounts.account(of: session)
        let (row, result) = try await items.item(path, for: account, .useCache)
        let item = row.item
        guard item.kind == .file else {
            throw Problem.validation([.field("/path", "invalid", "path is a folder; only files are downloaded.")])
        }
        guard let version = item.version, let size = item.size else { throw client.sizeMissing }
        let isStored = try await files.open(.content, of: item, account: account.id) != nil
        guard isStored || !result.provenance.offline else { throw client.unreachable }
        guard isStored || files.budget.admits(size) else {
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
        guard let (job, lease) = try await store.share(new, at: clock.now()) else { throw Problem.loggedOut }
        if job.id == new.id, !job.isOver { queue.add(job, lease, runner.run) }
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
        let provenance = Provenance(source: .upstream)
        return try .screen(
            Envelope(
                data: DownloadScreen(job),
                meta: Meta(screen: "disk.file", state: job.isOver ? .content : .loading, provenance: provenance)
                    .lagging(lag),
                links: Links(self: href)
            ),
            status: status,
            provenance: provenance,
            now: clock.now(),
            headerFields: request.method == .post ? [.location: href.requestTarget] : [:]
        )
    }
}
