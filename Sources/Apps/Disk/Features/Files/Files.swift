import Cluster
import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Media
import Screens
import Upstream

/// The screens of single files and folders.
struct Files: Sendable {
    let accounts: DiskAccounts
    let items: ProjectedItems
    let responses: FileResponses

    /// `GET /v1/disk/file`.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let timeZone = try request.timeZone(fallback: responses.timeZone)
        let cachePolicy = try request.cachePolicy()
        let changeToken = accounts.store.changeToken(account: session.account)
        let witness = accounts.reader.client.upstream.witness()
        let (account, stored) = try await accounts.account(of: session) {
            try items.stored(path, for: $0, cachePolicy, since: witness)
        }
        let (row, result) =
            if let stored { stored } else { try await items.item(path, for: account, cachePolicy) }
        return try responses.file(
            row,
            request,
            timeZone,
            result.provenance,
            account: account.id,
            changeToken: result.changeToken?.and(changeToken)
        )
    }
}

/// Makes responses with the screen of a file or folder.
struct FileResponses: Sendable {
    /// Time zone of texts if a request does not name one.
    let timeZone: TimeZone
    let media: MediaEngine?
    let store: DiskStore
    let clock: WallClock

    /// Returns the screen of a row.
    ///
    /// - Parameter account: The account, for the number of its writes that wait; nil in the response to a write.
    /// - Throws: `EncodingError`.
    func file(
        _ row: DiskRow,
        _ request: ScreenRequest,
        _ timeZone: TimeZone,
        _ provenance: Provenance,
        status: HTTPResponse.Status = .ok,
        account: String? = nil,
        changeToken: ChangeToken? = nil
    ) throws -> ScreenResponse {
        let link = row.item.path.link(to: "/v1/disk/file")
        let pending = account.flatMap(store.pendingWrites)
        let screen = FileScreen(
            row,
            timeZone: timeZone,
            way: WriteWay(offline: provenance.offline, isOutboxFull: store.isOutboxFull(pending)),
            convertsOffice: media?.office.isAvailable ?? false
        )
        let meta = Meta(
            screen: "disk.file",
            provenance: provenance,
            banner: provenance.offline ? .diskOffline : nil,
            pending: pending
        ).lagging(store.users.lag)
        let links = Links(self: request.method == .get ? request.selfLink : link)
        var response = try ScreenResponse.screen(
            Envelope(data: screen, meta: meta, links: links),
            status: status,
            provenance: provenance,
            now: clock.now(),
            headerFields: status == .created ? [.location: link.requestTarget] : [:],
            changeToken: changeToken
        )
        response.version = row.item.screenVersion
        return response
    }
}
