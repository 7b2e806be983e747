import Foundation
import HTTPTypes
import Media
import Screens
import Upstream

extension DiskService {
    /// `GET /v1/disk/file`.
    @Sendable func file(_ request: ScreenRequest) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let timeZone = try timeZone(request)
        let account = try await account(of: request)
        let ownValidity = store.changeToken(account: account.id)
        let (row, reading) = try await item(path, account, try request.cachePolicy())
        return try fileScreen(
            row,
            request,
            timeZone,
            reading.provenance,
            changeToken: reading.changeToken?.and(ownValidity)
        )
    }

    func fileScreen(
        _ row: DiskRow,
        _ request: ScreenRequest,
        _ timeZone: TimeZone,
        _ provenance: Provenance,
        status: HTTPResponse.Status = .ok,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let link = row.item.path.link(to: "/v1/disk/file")
        let meta = Meta(screen: "disk.file", provenance: provenance, banner: provenance.offline ? .diskOffline : nil)
        let isGet = request.method == .get
        var response = try ScreenResponse.screen(
            Envelope(
                data: FileScreen(
                    row,
                    timeZone: timeZone,
                    offline: provenance.offline,
                    convertsOffice: media?.office.isAvailable ?? false
                ),
                meta: meta,
                links: Links(self: isGet ? request.selfLink : link)
            ),
            status: status,
            provenance: provenance,
            now: clock.now(),
            headerFields: status == .created ? [.location: link] : [:],
            changeToken: changeToken
        )
        response.version = row.item.screenVersion
        return response
    }

    /// A file or folder: from the upstream, or as a list has shown it before. A file that the upstream says is not
    /// there leaves all lists.
    func item(_ path: DiskPath, _ account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> (
        DiskRow, ReadResult
    ) {
        var present = account
        var cachePolicy = cachePolicy
        for _ in 0..<4 {
            let known = try store.row(path, account: account.id)
            do {
                let reading = try await read(present, cachePolicy, of: path) { token, epoch in
                    let now = clock.now()
                    var resource = api.item(path, token, account: account.id) { record throws(UpstreamError) in
                        guard let item = record.item, item.path == path else {
                            throw .badResponse(status: .ok, reason: "another file than was asked for")
                        }
                        return store.persistRows(
                            [item],
                            as: nil,
                            about: path,
                            account: account.id,
                            epoch: epoch,
                            at: now
                        ) {
                            announce($0, to: account.id)
                        }
                    }
                    resource.bundledAt = known?.seenAt
                    return resource
                }
                if let row = try store.row(path, account: account.id) { return (row, reading) }
                if let absence = absence(reading) { throw absence }
                if cachePolicy == .onlyIfCached { throw UpstreamFailure(.notStored, of: api.upstream) }
                if reading.provenance.source == .upstream {
                    throw Problem.notFound("\(path.name) was deleted or moved while it was read.")
                }
                // The stored response is of a time before it was removed: ask.
                present = try store.account(account.id) ?? present
                cachePolicy = .revalidate
            } catch let failure as UpstreamFailure where failure.error == .notStored && cachePolicy != .onlyIfCached {
                guard let anew = try store.account(account.id) else { throw Self.sessionExpired }
                present = anew
                cachePolicy = .revalidate
            }
        }
        throw UpstreamFailure(
            .badResponse(status: nil, reason: "the account was logged in anew while it was read"),
            of: api.upstream
        )
    }

    /// The same for something that must be a file.
    func fileItem(_ path: DiskPath, _ account: DiskAccount, _ cachePolicy: CachePolicy) async throws -> (
        DiskRow, ReadResult
    ) {
        let (row, reading) = try await item(path, account, cachePolicy)
        guard row.item.kind == .file else {
            throw Problem.invalidParameter("path", accepted: "accepts a file here, and this is a folder")
        }
        return (row, reading)
    }
}
