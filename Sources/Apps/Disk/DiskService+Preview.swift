import Foundation
import HTTPCaching
import HTTPTypes
import Screens
import Storage
import Upstream

extension DiskService {
    /// `GET /v1/disk/file/preview`: a small picture, kept by the version of the file. Where none can be had, a
    /// placeholder that is not kept.
    @Sendable func preview(_ request: ScreenRequest) async throws -> Reply {
        let path = try request.diskPath()
        let size = try previewSize(request)
        let account = try await account(of: request)
        let demand = try request.demand()
        // A row that a list has shown is enough: its version names the picture.
        let known = try store.row(path, account: account.id)
        let row = if let known, demand != .refresh { known } else { try await fileItem(path, account, demand).0 }
        guard row.item.kind == .file else { return .placeholder(CacheStatus(.hit, detail: "placeholder")) }
        if let (stored, _) = try await openStored(.preview(size), of: row.item, account.id),
            let reply = try picture(stored)
        {
            return reply
        }
        guard demand != .onlyIfCached else { throw UpstreamFailure(.notStored, of: api.upstream) }
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

    private func picture(_ stored: StoredFile) throws -> Reply? {
        let bytes =
            switch stored.body {
            case .bytes(let bytes): bytes
            case .blob(let reader): try reader.readAll()
            }
        guard let type = PictureType(of: bytes) else { return nil }
        let provenance = Provenance(
            source: .cache,
            fetchedAt: stored.response.responseTime,
            cacheStatus: CacheStatus(.hit)
        )
        return .picture(bytes, type: type, provenance: provenance, now: clock.now())
    }

    /// Throws `UpstreamError` where a placeholder is the answer, and a refusal (401, 403, 404 of the file itself) where
    /// that is news.
    private func fetchedPreview(_ known: DiskItem, _ size: PreviewSize, _ account: DiskAccount) async throws -> Reply {
        guard api.upstream.reachability.isReachable else { throw UpstreamError.unreachable(.network) }
        let (href, item) = try await authorized(account.id) { try await api.previewLink(known.path, size: size, $0) }
        guard let href else { throw UpstreamError.badAnswer(status: .ok, reason: "no preview") }
        // The upstream documents that its own hosts want the owner's token; to other origins it does not go.
        let answer = try await authorized(account.id) { token in
            try await api.upstream.call(
                OutgoingRequest(url: href, headerFields: [.accept: "image/*", .authorization: "OAuth \(token)"])
            )
        }
        guard answer.status == .ok, let type = PictureType(of: answer.body) else {
            throw UpstreamError.badAnswer(status: answer.status, reason: "not a picture")
        }
        let bytes = Data(answer.body)
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
            fetchedAt: clock.now(),
            cacheStatus: CacheStatus(.forward(.uriMiss), stored: isStored)
        )
        return .picture(bytes, type: type, provenance: provenance, now: clock.now())
    }
}
