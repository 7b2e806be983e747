import Database
import Foundation
import Freshness
import HTTPTypes
import Media
import Screens
import Upstream

/// Files as pictures of their pages and as PDFs. Child processes under limits parse them; the server never does.
struct Pages: Sendable {
    let accounts: DiskAccounts
    let items: ItemReader
    let files: StoredFiles
    let lender: FileLender
    /// Makes pictures and PDFs; nil if that is not wanted.
    let media: MediaEngine?
    let clock: WallClock

    private var client: YandexDiskClient { accounts.reader.client }

    /// A file that is shown, with its account and the read of its metadata.
    private struct Subject {
        let item: DiskItem
        let account: DiskAccount
        let result: ReadResult
    }

    /// `GET /v1/disk/file/pdf`: an office file as a PDF, if LibreOffice is installed.
    @Sendable func document(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try await accounts.account(of: session)
        let path = try request.diskPath()
        let cachePolicy = try request.cachePolicy()
        let (row, result) = try await items.file(path, for: account, cachePolicy)
        let item = row.item
        guard let format = OfficeFormat(fileName: item.name) else {
            throw Problem(
                .unsupportedMediaType,
                "Only office files are shown as PDF: \(OfficeFormat.allCases.map(\.rawValue).joined(separator: ", "))."
            )
        }
        let subject = Subject(item: item, account: account, result: result)
        let stored = try await document(of: subject, format, cachePolicy)
        let name = String(item.name.dropLast(item.fileExtension.count)) + "pdf"
        let version = "\(item.version ?? "")-pdf"
        let content = stored.content(of: item, type: "application/pdf", version: version, fileName: name)
        return try .content(content, to: request, provenance: stored.provenance(result), now: clock.now())
    }

    /// `GET /v1/disk/file/page`: one page of a PDF or office file, or a picture, as a picture of a width.
    @Sendable func page(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let number = try request.query.integer("page", in: 1...100_000) ?? 1
        let width = try request.query.integer("width", in: 16...2000) ?? 800
        let account = try await accounts.account(of: session)
        let cachePolicy = try request.cachePolicy()
        let (row, result) = try await items.file(path, for: account, cachePolicy)
        let body = DiskStore.Body.page(number, width: width)
        if let stored = try await files.open(body, of: row.item, account: account.id) {
            let bytes = try stored.bytes()
            if let type = PictureType(of: bytes) {
                return .picture(bytes, type: type, provenance: stored.provenance(result), now: clock.now())
            }
        }
        guard cachePolicy != .onlyIfCached else { throw client.notStored }
        let subject = try await subject(row.item, account, result)
        return try await rendered(subject, page: number, width: width)
    }

    /// Returns what a picture is made of: an outdated version only if its content is stored.
    private func subject(_ item: DiskItem, _ account: DiskAccount, _ result: ReadResult) async throws -> Subject {
        let isUsable = try !result.provenance.stale || files.store.body(.content, of: item, account: account.id) != nil
        guard !isUsable, !result.provenance.offline else {
            return Subject(item: item, account: account, result: result)
        }
        let present = try await items.presentVersion(of: item, result, for: account)
        return Subject(item: present, account: account, result: result)
    }

    /// Makes a picture of a page, and stores it.
    private func rendered(_ subject: Subject, page number: Int, width: Int) async throws -> ScreenResponse {
        let picture = try await picture(of: subject, page: number, width: width)
        let isStored = try await files.save(
            picture.data,
            as: .page(number, width: width),
            of: subject.item,
            type: picture.mediaType,
            for: subject.account
        )
        guard let type = PictureType(of: picture.data) else { throw Problem(.damaged("the result is no picture")) }
        let now = clock.now()
        return .picture(picture.data, type: type, provenance: .fetched(at: now, stored: isStored), now: now)
    }

    private func picture(of subject: Subject, page number: Int, width: Int) async throws -> RenderedPicture {
        guard let media else { throw Problem(.toolMissing(.pdftoppm)) }
        let item = subject.item
        do {
            switch (item.viewer, OfficeFormat(fileName: item.name)) {
            case (.image, _):
                guard number == 1 else { throw MediaError.noSuchPage(number) }
                return try await lender.withContent(of: item, for: subject.account, subject.result) {
                    try await media.pictures.scale(.file($0), width: width, height: 4 * width)
                }
            case (.pdf, _):
                return try await lender.withContent(of: item, for: subject.account, subject.result) {
                    try await media.pages.picture(of: number, in: $0, width: width)
                }
            case (_, let format?):
                let document = try await document(of: subject, format, .useCache)
                return try await lender.withFile(document.body) {
                    try await media.pages.picture(of: number, in: $0, width: width)
                }
            default:
                throw MediaError.unsupported(
                    item.fileExtension.isEmpty ? "a file without an extension" : ".\(item.fileExtension)"
                )
            }
        } catch let error as MediaError {
            throw Problem(error)
        }
    }

    /// Returns the PDF of an office file, made and stored if it is not there yet.
    private func document(of subject: Subject, _ format: OfficeFormat, _ cachePolicy: CachePolicy) async throws
        -> StoredFile
    {
        let (item, account) = (subject.item, subject.account)
        if let stored = try await files.open(.document, of: item, account: account.id) { return stored }
        guard cachePolicy != .onlyIfCached else { throw client.notStored }
        guard let media, media.office.isAvailable else { throw Problem(.toolMissing(.soffice)) }
        let converted = lender.scratch.place(".pdf")
        defer { withExtendedLifetime(converted) {} }
        do {
            try await lender.withContent(of: item, for: account, subject.result) {
                try await media.office.convert($0, format: format, to: URL(filePath: converted.path))
            }
        } catch let error as MediaError {
            throw Problem(error)
        }
        let blob = try files.store.database.blobs.adopt(converted)
        _ = try await files.save(.blob(blob), as: .document, of: item, type: "application/pdf", for: account)
        guard let stored = try await files.open(.document, of: item, account: account.id) else {
            throw Problem.fileChanges
        }
        return stored
    }
}
