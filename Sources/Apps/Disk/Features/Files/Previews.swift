import Foundation
import Freshness
import HTTPCaching
import HTTPTypes
import ResponseStore
import Screens
import Upstream

/// Small pictures of files, as the API makes them.
struct Previews: Sendable {
    let accounts: DiskAccounts
    let items: ItemReader
    let files: StoredFiles
    let client: YandexDiskClient
    let tokens: TokenProvider
    let clock: WallClock

    /// `GET /v1/disk/file/preview`: a small picture, stored for the version of the file; else a placeholder, which is
    /// not stored.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let size = try size(request)
        let account = try await accounts.account(of: session)
        let cachePolicy = try request.cachePolicy()
        // A row that a list has shown is enough: its version identifies the picture.
        let known = cachePolicy == .revalidate ? nil : try files.store.row(path, account: account.id)
        let row = if let known { known } else { try await items.file(path, for: account, cachePolicy).0 }
        guard row.item.kind == .file else { return .placeholder() }
        if let stored = try await files.open(.preview(size), of: row.item, account: account.id),
            let response = try picture(stored)
        {
            return response
        }
        guard cachePolicy != .onlyIfCached else { throw client.notStored }
        do {
            return try await fetched(row.item, size, for: account)
        } catch let error as UpstreamError {
            return .placeholder(after: error)
        } catch {
            throw client.translated(error)
        }
    }

    private func size(_ request: ScreenRequest) throws -> PreviewSize {
        guard let text = try request.query.string("size") else { return .standard }
        guard let size = PreviewSize(text) else {
            throw Problem.invalidParameter(
                "size",
                accepted: "accepts S, M, L, XL, XXL, XXXL, XXXS, XXS, XS, or pixels as 120x120, 120x, x120 (up to 2000)"
            )
        }
        return size
    }

    private func picture(_ stored: StoredFile) throws -> ScreenResponse? {
        let bytes = try stored.bytes()
        guard let type = PictureType(of: bytes) else { return nil }
        let provenance = Provenance(
            source: .upstream,
            validatedAt: stored.head.responseTime,
            cacheStatus: CacheStatus(.hit)
        )
        return .picture(bytes, type: type, provenance: provenance, now: clock.now())
    }

    /// Fetches a picture and stores it.
    ///
    /// - Throws: `UpstreamError` if a placeholder is the response; a refusal (401, 403, 404 of the file itself) if that
    ///   is news.
    private func fetched(_ known: DiskItem, _ size: PreviewSize, for account: DiskAccount) async throws
        -> ScreenResponse
    {
        guard client.isReachable else { throw UpstreamError.unreachable(.network) }
        let (href, item) = try await tokens.authorized(account.id) {
            try await client.previewLink(known.path, size: size, $0)
        }
        guard let href else { throw UpstreamError.badResponse(status: .ok, reason: "no preview") }
        // The API documents that its own hosts require the owner's token; it is not sent to other origins.
        let response = try await tokens.authorized(account.id) { token in
            var fields = client.headerFields(token)
            fields[.accept] = "image/*"
            return try await client.upstream.call(OutgoingRequest(url: href, headerFields: fields))
        }
        guard response.status == .ok, let type = PictureType(of: response.body) else {
            throw UpstreamError.badResponse(status: response.status, reason: "not a picture")
        }
        let bytes = Data(response.body)
        let present = item ?? known
        var isStored = false
        if present.version != nil, files.budget.admits(bytes.count) {
            isStored = try await files.save(
                bytes,
                as: .preview(size),
                of: present,
                type: type.rawValue,
                for: account
            )
        }
        let now = clock.now()
        return .picture(bytes, type: type, provenance: .fetched(at: now, stored: isStored), now: now)
    }
}
