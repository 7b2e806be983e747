import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// Small pictures of files, as the API makes them.
struct Previews: Sendable {
    let accounts: DiskAccounts
    let items: ProjectedItems
    let pictures: QueuedPictures
    let files: StoredFiles
    let client: YandexDiskClient
    let tokens: TokenProvider
    let clock: WallClock
    let reads: PictureReads<ScreenResponse>

    /// `GET /v1/disk/file/preview`: a small picture, stored for the version of the file; else a placeholder, which is
    /// not stored.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let size = try size(request)
        let cachePolicy = try request.cachePolicy()
        let (account, known) = try await accounts.account(of: session) { account in
            // A row that a list has shown is enough: its version identifies the picture.
            cachePolicy == .revalidate
                ? nil
                : try items.known(path, account: account.id).map {
                    ($0, try files.find(.preview(size), of: $0, account: account.id))
                }
        }
        let item = if let known { known.0 } else { try await items.file(path, for: account, cachePolicy).0.item }
        guard item.kind == .file else { return .placeholder() }
        if item.queuedUpload != nil { return try await pictures.picture(of: item, size, account.id, request) }
        let found = try known?.1 ?? files.find(.preview(size), of: item, account: account.id)
        if let stored = try await files.open(found, of: item, account: account.id),
            let response = try picture(stored)
        {
            return response
        }
        guard cachePolicy != .onlyIfCached else { throw client.notStored }
        do {
            let name = "\(account.login.token) \(item.storedPath.text) \(item.version ?? "") \(size.text)"
            let isForced = cachePolicy == .revalidate
            return try await reads.read(name, isForced: isForced) {
                try await fetched(item, size, for: account, isForced)
            }
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
    private func fetched(_ known: DiskItem, _ size: PreviewSize, for account: DiskAccount, _ isForced: Bool)
        async throws -> ScreenResponse
    {
        let (href, item): (String?, DiskItem?)
        do {
            (href, item) = try await tokens.authorized(account) {
                try await client.previewLink(known.storedPath, size: size, $0)
            }
        } catch let refusal as DiskRefusal where refusal.isGone {
            guard try files.store.isYoung(known.storedPath, account: account.id) else { throw refusal }
            throw UpstreamError.badResponse(status: .notFound, reason: "a file that is not shown yet")
        }
        guard let href else { throw UpstreamError.badResponse(status: .ok, reason: "no preview") }
        let (bytes, type) = try await download(href, for: account, isForced)
        let present = known.source == nil ? item ?? known : known
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

    /// Downloads a picture from a link of the API.
    ///
    /// - Throws: `UpstreamError` if it is no picture, or cannot be had; ``DiskRefusal``.
    private func download(_ href: String, for account: DiskAccount, _ isForced: Bool) async throws
        -> (Data, PictureType)
    {
        // The API documents that its own hosts require the owner's token; it is not sent to other origins.
        let response = try await tokens.authorized(account) { token in
            var fields = client.headerFields(token)
            fields[.accept] = "image/*"
            return try await reads.download(href, fields, isForced: isForced)
        }
        guard response.status == .ok, let type = PictureType(of: response.body) else {
            throw UpstreamError.badResponse(status: response.status, reason: "not a picture")
        }
        return (Data(response.body), type)
    }
}
