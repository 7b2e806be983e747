import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Media
import Screens
import Storage
import Upstream

/// Small pictures of files, as the API makes them.
struct Previews: Sendable {
    let disk: Disk
    private let reads: PictureReads<ScreenResponse>

    private var files: StoredFiles { disk.files }

    init(disk: Disk) {
        self.disk = disk
        reads = PictureReads(of: disk.client.upstream)
    }

    /// `GET /v1/disk/file/preview`: a small picture, stored for the version of the file; else a placeholder, which is
    /// not stored.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let size = try size(request)
        let cachePolicy = try request.cachePolicy()
        let (account, known) = try await disk.account(of: session) { account in
            // A row that a list has shown is enough: its version identifies the picture.
            cachePolicy == .revalidate
                ? nil
                : try disk.pending.known(path, account: account.id).map {
                    ($0, try files.find(.preview(size), of: $0, account: account.id))
                }
        }
        let item = if let known { known.0 } else { try await disk.pending.file(path, for: account, cachePolicy).0.item }
        guard item.kind == .file else { return .placeholder() }
        if item.queuedUpload != nil { return try await queuedPicture(of: item, size, account.id, request) }
        let found = try known?.1 ?? files.find(.preview(size), of: item, account: account.id)
        if let stored = try await files.open(found, of: item, account: account.id),
            let response = try picture(stored)
        {
            return response
        }
        guard cachePolicy != .onlyIfCached else { throw disk.client.notStored }
        do {
            let name = "\(account.login.token) \(item.storedPath.text) \(item.version ?? "") \(size.text)"
            let isForced = cachePolicy == .revalidate
            return try await reads.read(name, isForced: isForced) {
                try await fetched(item, size, for: account, isForced)
            }
        } catch let error as UpstreamError {
            return .placeholder(after: error)
        } catch {
            throw disk.client.translated(error)
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
        return .picture(bytes, type: type, provenance: provenance, now: disk.clock.now())
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
            (href, item) = try await disk.tokens.authorized(account) {
                try await disk.client.previewLink(known.storedPath, size: size, $0)
            }
        } catch let refusal as DiskRefusal where refusal.isGone {
            guard try disk.store.isYoung(known.storedPath, account: account.id) else { throw refusal }
            throw UpstreamError.badResponse(status: .notFound, reason: "a file that is not shown yet")
        }
        guard let href else { throw UpstreamError.badResponse(status: .ok, reason: "no preview") }
        let (bytes, type) = try await download(href, for: account, isForced)
        let present = known.source == nil ? item ?? known : known
        var isStored = false
        if present.version != nil, disk.budget.admits(bytes.count) {
            isStored = try await files.save(bytes, as: .preview(size), of: present, type: type.rawValue, for: account)
        }
        let now = disk.clock.now()
        return .picture(bytes, type: type, provenance: .fetched(at: now, stored: isStored), now: now)
    }

    /// Downloads a picture from a link of the API.
    ///
    /// - Throws: `UpstreamError` if it is no picture, or cannot be fetched; ``DiskRefusal``.
    private func download(_ href: String, for account: DiskAccount, _ isForced: Bool) async throws
        -> (Data, PictureType)
    {
        // The API documents that its own hosts require the owner's token; it is not sent to other origins.
        let response = try await disk.tokens.authorized(account) { access in
            var fields = disk.client.headerFields(access)
            fields[.accept] = "image/*"
            return try await reads.download(href, fields, isForced: isForced)
        }
        guard response.status == .ok, let type = PictureType(of: response.body) else {
            throw UpstreamError.badResponse(status: response.status, reason: "not a picture")
        }
        return (Data(response.body), type)
    }
}

// Small pictures of uploads that wait: the API does not have them yet, so they are made here.
extension Previews {
    /// Returns a small picture of a file; the placeholder if there is none of it.
    private func queuedPicture(of item: DiskItem, _ size: PreviewSize, _ account: String, _ request: ScreenRequest)
        async throws
        -> ScreenResponse
    {
        guard item.viewer == .image,
            let stored = try await files.open(.content, of: item, account: account)
        else { return .placeholder() }
        let (width, height) = size.pixels
        do {
            let picture = try await disk.fetcher.withFile(stored.body) { file in
                try await request.whileClientWaits {
                    try await disk.media.pictures.scale(.file(file), width: width, height: height)
                }
            }
            guard let type = PictureType(of: picture.data) else { return .placeholder() }
            return .picture(picture.data, type: type, provenance: .local, now: disk.clock.now())
        } catch is MediaError {
            return .placeholder()
        }
    }
}

/// The size of a small picture in one of the API's spellings.
struct PreviewSize: Sendable, Equatable {
    /// `S`, `XL`, `120x120`, `128x`, …
    let text: String
    /// Whether width and height are both given, so that the picture is cropped.
    let isCropped: Bool

    static let standard = PreviewSize("120x120", isCropped: true)

    /// Parses a size; nil if it is malformed or larger than a screen needs.
    init?(_ text: String) {
        if ["S", "M", "L", "XL", "XXL", "XXXL", "XXXS", "XXS", "XS"].contains(text) {
            self.init(text, isCropped: false)
            return
        }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        let numbers = sides.map { side in side.isDigits ? Int(side) : nil }
        guard sides.count <= 2,
            zip(sides, numbers).allSatisfy({ $0.isEmpty ? sides.count == 2 : (1...2000).contains($1 ?? 0) }),
            text != "x", !text.isEmpty
        else { return nil }
        self.init(text, isCropped: sides.count == 2 && !sides.contains(""))
    }

    private init(_ text: String, isCropped: Bool) {
        self.text = text
        self.isCropped = isCropped
    }

    /// Largest width and height in pixels. The letters are those of the API.
    var pixels: (width: Int, height: Int) {
        let letters = [
            "XXXS": 50, "XXS": 75, "XS": 100, "S": 150, "M": 300, "L": 500, "XL": 800, "XXL": 1024, "XXXL": 1280,
        ]
        if let side = letters[text] { return (side, side) }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        let width = sides.first ?? nil
        let height = sides.count > 1 ? sides[1] : width
        return (width ?? 2000, height ?? 2000)
    }
}
