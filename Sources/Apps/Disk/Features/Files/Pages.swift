import Foundation
import HTTPCaching
import HTTPTypes
import Logging
import Media
import NIOCore
import Screens
import Storage
import Upstream

// Files as pictures and as PDFs. What parses them are children under limits; the server never does.
extension DiskService {
    /// `GET /v1/disk/file/pdf`: an office file as a PDF, where LibreOffice is installed.
    @Sendable func document(_ request: ScreenRequest) async throws -> ScreenResponse {
        let account = try await account(of: request)
        let (row, reading) = try await fileItem(try request.diskPath(), account, try request.cachePolicy())
        let item = row.item
        guard let format = OfficeFormat(fileName: item.name) else {
            throw Problem(
                .unsupportedMediaType,
                "Only office files are shown as PDF: \(OfficeFormat.allCases.map(\.rawValue).joined(separator: ", "))."
            )
        }
        let stored = try await storedDocument(item, format, account, try request.cachePolicy(), reading)
        let name = String(item.name.dropLast(item.fileExtension.count)) + "pdf"
        let content = try file(item, stored, "application/pdf", version: "\(item.version ?? "")-pdf", fileName: name)
        return try .content(
            content,
            to: request,
            provenance: Self.provenance(ofStored: stored.head.responseTime, reading),
            now: clock.now()
        )
    }

    /// `GET /v1/disk/file/page`: one page of a PDF or office file, or a picture, as a picture of a width.
    @Sendable func page(_ request: ScreenRequest) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let number = try request.query.integer("page", in: 1...100_000) ?? 1
        let width = try request.query.integer("width", in: 16...2000) ?? 800
        let account = try await account(of: request)
        let (row, reading) = try await fileItem(path, account, try request.cachePolicy())
        let item = row.item
        if let (stored, _) = try await openStored(.page(number, width: width), of: item, account.id),
            let response = try pagePicture(stored, reading)
        {
            return response
        }
        guard try request.cachePolicy() != .onlyIfCached else { throw UpstreamFailure(.notStored, of: api.upstream) }
        guard let media else { throw Self.problem(.toolMissing(.pdftoppm)) }
        let picture: RenderedPicture
        do {
            switch (item.viewer, OfficeFormat(fileName: item.name)) {
            case (.image, _):
                guard number == 1 else { throw MediaError.noSuchPage(number) }
                picture = try await withFile(item, account, reading) {
                    try await media.pictures.scale(.file($0), width: width, height: 4 * width)
                }
            case (.pdf, _):
                picture = try await withFile(item, account, reading) {
                    try await media.pages.picture(of: number, in: $0, width: width)
                }
            case (_, let format?):
                let document = try await storedDocument(item, format, account, .useCache, reading)
                picture = try await withFile(document.body) {
                    try await media.pages.picture(of: number, in: $0, width: width)
                }
            default:
                throw MediaError.unsupported(
                    item.fileExtension.isEmpty ? "a file without an extension" : ".\(item.fileExtension)"
                )
            }
        } catch let error as MediaError {
            throw Self.problem(error)
        }
        let body =
            picture.data.count > BlobStore.inlineLimit
            ? StoredBody.blob(try store.database.blobs.write(picture.data)) : .bytes(picture.data)
        let isStored = try await store.save(
            body,
            as: .page(number, width: width),
            of: item,
            type: picture.mediaType,
            account: account.id,
            epoch: account.epoch,
            at: clock.now()
        )
        guard let type = PictureType(of: picture.data) else { throw Self.problem(.damaged("no picture came of it")) }
        let provenance = Provenance(
            source: .upstream,
            validatedAt: clock.now(),
            cacheStatus: CacheStatus(.forward(.uriMiss), stored: isStored)
        )
        return .picture(picture.data, type: type, provenance: provenance, now: clock.now())
    }

    private func pagePicture(_ stored: StoredFile, _ reading: ReadResult) throws -> ScreenResponse? {
        let bytes =
            switch stored.body {
            case .bytes(let bytes): bytes
            case .blob(let reader): try reader.readAll()
            }
        guard let type = PictureType(of: bytes) else { return nil }
        return .picture(
            bytes,
            type: type,
            provenance: Self.provenance(ofStored: stored.head.responseTime, reading),
            now: clock.now()
        )
    }

    /// The PDF of an office file, made and stored where it is not yet.
    private func storedDocument(
        _ item: DiskItem,
        _ format: OfficeFormat,
        _ account: DiskAccount,
        _ cachePolicy: CachePolicy,
        _ reading: ReadResult
    ) async throws
        -> StoredFile
    {
        if let (stored, _) = try await openStored(.document, of: item, account.id) { return stored }
        guard cachePolicy != .onlyIfCached else { throw UpstreamFailure(.notStored, of: api.upstream) }
        guard let media, media.office.isAvailable else { throw Self.problem(.toolMissing(.soffice)) }
        let result = scratch.place(".pdf")
        defer { withExtendedLifetime(result) {} }
        do {
            try await withFile(item, account, reading) {
                try await media.office.convert($0, format: format, to: URL(filePath: result.path))
            }
        } catch let error as MediaError {
            throw Self.problem(error)
        }
        _ = try await store.save(
            .blob(try store.database.blobs.adopt(result)),
            as: .document,
            of: item,
            type: "application/pdf",
            account: account.id,
            epoch: account.epoch,
            at: clock.now()
        )
        guard let (stored, _) = try await openStored(.document, of: item, account.id) else {
            throw Problem(.overloaded, "The file changes while it is read. Ask again.")
        }
        return stored
    }

    /// Lends a file's content as a file; it is fetched into the store before where it is not there.
    private func withFile<Value>(
        _ item: DiskItem,
        _ account: DiskAccount,
        _ reading: ReadResult,
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        if try store.body(.content, of: item, account: account.id) == nil {
            guard !reading.provenance.offline else { throw UpstreamFailure(.unreachable(.network), of: api.upstream) }
            guard let size = item.size, item.version != nil else {
                throw UpstreamFailure(.badResponse(status: .ok, reason: "a file without a size"), of: api.upstream)
            }
            guard options.budget.admits(size) else {
                throw Problem(.tooLarge, "The file is larger than cache.budget_mb has room for.")
            }
            do {
                for try await _ in try await keeping(item, size: size, account) {}
            } catch let problem where problem is Problem || problem is UpstreamFailure {
                throw problem
            } catch {
                try Task.checkCancellation()
                throw UpstreamFailure(.badResponse(status: .ok, reason: "the file broke off"), of: api.upstream)
            }
        }
        guard let (stored, _) = try await openStored(.content, of: item, account.id) else {
            throw Problem(.overloaded, "The file changes while it is read. Ask again.")
        }
        return try await withFile(stored.body, body)
    }

    /// Lends a copy of a stored body under a name that a child can be given: in the data directory, readable by its
    /// owner only, for as long as it is needed.
    func withFile<Value>(_ stored: ResponseStore.OpenBody, _ body: (URL) async throws -> Value) async throws -> Value {
        let file = try scratch.file()
        switch stored {
        case .bytes(let bytes): try file.append(bytes)
        case .blob(let reader):
            var position = 0
            while position < reader.blob.length {
                let end = min(position + (256 << 10), reader.blob.length)
                try file.append(try reader.read(position..<end))
                position = end
            }
        }
        defer { withExtendedLifetime(file) {} }
        return try await body(URL(filePath: file.place.path))
    }

    /// Why there is no picture or PDF of a file, in the words of this app.
    static func problem(_ error: MediaError) -> Problem {
        switch error {
        case .toolMissing(.soffice):
            Problem(
                .toolMissing,
                "LibreOffice is not installed where Larder runs, so office files cannot be shown as PDF or as pictures."
            )
        case .toolMissing(let tool):
            Problem(
                .toolMissing,
                "\(tool.executable) is not installed where Larder runs, so the file cannot be shown as a picture."
            )
        case .unconfined:
            Problem(
                .toolMissing,
                "Office files are converted only where the kernel can keep LibreOffice from other files (Landlock, Linux 5.13 or later)."
            )
        case .overloaded:
            Problem(.overloaded, "Too many pictures are being made already.", headerFields: [.retryAfter: "5"])
        case .tooLarge: Problem(.tooLarge, "The file is too large to be shown as a picture.")
        case .noSuchPage(let number): Problem.notFound("The file has no page \(number).")
        case .unsupported(let kind): Problem(.unsupportedMediaType, "There is no picture of this file (\(kind)).")
        case .encrypted: Problem(.unsupportedMediaType, "The file needs a password.")
        case .timedOut, .damaged, .tooManyPages, .noGlyphs, .crashed, .failed:
            Problem(.unsupportedMediaType, "The file cannot be shown as a picture: it is broken, or takes too long.")
        }
    }
}
