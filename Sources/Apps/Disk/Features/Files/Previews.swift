import Foundation
import HTTPCaching
import HTTPTypes
import Screens
import Storage
import Upstream

extension DiskService {
    /// `GET /v1/disk/file/preview`: a small picture, kept by the version of the file. Where none can be had, a
    /// placeholder that is not kept.
    @Sendable func preview(_ request: ScreenRequest) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let size = try previewSize(request)
        let account = try await account(of: request)
        let cachePolicy = try request.cachePolicy()
        // A row that a list has shown is enough: its version names the picture.
        let known = try store.row(path, account: account.id)
        let row =
            if let known, cachePolicy != .revalidate { known } else { try await fileItem(path, account, cachePolicy).0 }
        guard row.item.kind == .file else { return .placeholder(CacheStatus(.hit, detail: "placeholder")) }
        if let (stored, _) = try await openStored(.preview(size), of: row.item, account.id),
            let response = try picture(stored)
        {
            return response
        }
        guard cachePolicy != .onlyIfCached else { throw UpstreamFailure(.notStored, of: api.upstream) }
        do {
            return try await fetchedPreview(row.item, size, account)
        } catch let error as UpstreamError {
            return .placeholder(
                CacheStatus(.forward(.uriMiss), forwardStatus: error.status?.code, detail: "placeholder")
            )
        } catch {
            throw translated(error)
        }
    }

    private func previewSize(_ request: ScreenRequest) throws -> PreviewSize {
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
        let bytes =
            switch stored.body {
            case .bytes(let bytes): bytes
            case .blob(let reader): try reader.readAll()
            }
        guard let type = PictureType(of: bytes) else { return nil }
        let provenance = Provenance(
            source: .cache,
            validatedAt: stored.head.responseTime,
            cacheStatus: CacheStatus(.hit)
        )
        return .picture(bytes, type: type, provenance: provenance, now: clock.now())
    }

    /// Throws `UpstreamError` where a placeholder is the response, and a refusal (401, 403, 404 of the file itself) where
    /// that is news.
    private func fetchedPreview(_ known: DiskItem, _ size: PreviewSize, _ account: DiskAccount) async throws
        -> ScreenResponse
    {
        guard api.upstream.reachability.isReachable else { throw UpstreamError.unreachable(.network) }
        let (href, item) = try await authorized(account.id) { try await api.previewLink(known.path, size: size, $0) }
        guard let href else { throw UpstreamError.badResponse(status: .ok, reason: "no preview") }
        // The upstream documents that its own hosts want the owner's token; to other origins it does not go.
        let response = try await authorized(account.id) { token in
            try await api.upstream.call(
                OutgoingRequest(url: href, headerFields: [.accept: "image/*", .authorization: "OAuth \(token)"])
            )
        }
        guard response.status == .ok, let type = PictureType(of: response.body) else {
            throw UpstreamError.badResponse(status: response.status, reason: "not a picture")
        }
        let bytes = Data(response.body)
        let present = item ?? known
        var isStored = false
        if present.version != nil, options.budget.admits(bytes.count) {
            let body =
                bytes.count > BlobStore.inlineLimit
                ? StoredBody.blob(try store.database.blobs.write(bytes)) : .bytes(bytes)
            isStored = try await store.save(
                body,
                as: .preview(size),
                of: present,
                type: type.rawValue,
                account: account.id,
                epoch: account.epoch,
                at: clock.now()
            )
        }
        let provenance = Provenance(
            source: .upstream,
            validatedAt: clock.now(),
            cacheStatus: CacheStatus(.forward(.uriMiss), stored: isStored)
        )
        return .picture(bytes, type: type, provenance: provenance, now: clock.now())
    }
}
