import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Media
import Screens
import Storage
import Upstream

/// Files as pictures of their pages and as PDFs. Child processes under limits parse them; the server never does.
struct Pages: Sendable {
    let disk: Disk
    /// The pictures and PDFs that recently could not be drawn.
    let failures = DrawingFailures()
    /// Held by the request that makes a picture or a PDF, so that nothing is made twice at once.
    let locks = KeyedMutex()

    private var items: PendingItems { disk.pending }
    private var files: StoredFiles { disk.files }
    private var media: MediaEngine { disk.media }

    /// A file that is shown, with its account and the read of its metadata.
    struct Subject {
        var item: DiskItem
        let account: DiskAccount
        let result: ReadResult
        /// The request for it: the work is cancelled if its client disconnects.
        let request: ScreenRequest

        /// Identifies a picture or PDF made of this version of the file.
        func key(_ product: String) -> String { "\(account.id) \(item.path.text) \(item.version ?? "") \(product)" }
    }

    /// `GET /v1/disk/file/pdf`: an office file as a PDF, if LibreOffice is installed.
    @Sendable func document(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try await disk.account(of: session)
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
        let subject = Subject(item: item, account: account, result: result, request: request)
        let stored = try await document(of: subject, format, cachePolicy)
        let name = String(item.name.dropLast(item.fileExtension.count)) + "pdf"
        let version = "\(item.version ?? "")-pdf"
        let content = stored.content(of: item, type: "application/pdf", version: version, fileName: name)
        return try .content(content, to: request, provenance: stored.provenance(result), now: disk.clock.now())
    }

    /// `GET /v1/disk/file/page`: one page of a PDF or office file, or a picture, as a picture of a width.
    @Sendable func page(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        let number = try request.query.integer("page", in: 1...100_000) ?? 1
        let width = try request.query.integer("width", in: 16...2000) ?? 800
        let cachePolicy = try request.cachePolicy()
        let file = try await disk.servedFile(path, .page(number, width: width), of: session, cachePolicy)
        let known = Subject(item: file.item, account: file.account, result: file.result, request: request)
        if let picture = try await picture(file.found, known) { return picture }
        guard cachePolicy != .onlyIfCached else { throw disk.client.notStored }
        let subject = try await present(known)
        return try await locks.holding([subject.key("page \(number)")]) {
            if let picture = try await stored(subject, page: number, width: width) { return picture }
            return try await rendered(subject, page: number, width: width)
        }
    }

    private func stored(_ subject: Subject, page number: Int, width: Int) async throws -> ScreenResponse? {
        let body = DiskStore.Body.page(number, width: width)
        return try await picture(try files.find(body, of: subject.item, account: subject.account.id), subject)
    }

    private func picture(_ found: StoredFiles.Bodies, _ subject: Subject) async throws -> ScreenResponse? {
        guard let stored = try await files.open(found, of: subject.item, account: subject.account.id) else {
            return nil
        }
        let bytes = try stored.bytes()
        return PictureType(of: bytes).map {
            .picture(bytes, type: $0, provenance: stored.provenance(subject.result), now: disk.clock.now())
        }
    }

    /// Returns the version to make a picture of: an outdated one only if its content is stored or the API is
    /// unreachable.
    private func present(_ known: Subject) async throws -> Subject {
        let (item, account, result) = (known.item, known.account, known.result)
        let isUsable =
            try !result.provenance.stale || files.find(.content, of: item, account: account.id).hasPresent(item)
        guard !isUsable, !result.provenance.offline else { return known }
        var present = known
        present.item = try await items.presentVersion(of: item, result, for: account)
        return present
    }
}

// Pictures and PDFs made of files: each at most once at a time, not again after a failure, and not for a disconnected
// client.
extension Pages {
    func rendered(_ subject: Subject, page number: Int, width: Int) async throws -> ScreenResponse {
        let picture = try await picture(of: subject, page: number, width: width)
        let isStored = try await files.save(
            picture.data,
            as: .page(number, width: width),
            of: subject.item,
            type: picture.mediaType,
            for: subject.account
        )
        guard let type = PictureType(of: picture.data) else { throw Problem(.damaged("the result is no picture")) }
        let now = disk.clock.now()
        return .picture(picture.data, type: type, provenance: .fetched(at: now, stored: isStored), now: now)
    }

    private func picture(of subject: Subject, page number: Int, width: Int) async throws -> RenderedPicture {
        do {
            return try await failures.drawing(subject.key("page \(number)"), at: disk.clock.now) {
                try await drawnPicture(of: subject, page: number, width: width)
            }
        } catch let error as MediaError {
            throw Problem(error)
        }
    }

    private func drawnPicture(of subject: Subject, page number: Int, width: Int) async throws -> RenderedPicture {
        let (item, request) = (subject.item, subject.request)
        switch (item.viewer, OfficeFormat(fileName: item.name)) {
        case (.image, _):
            guard number == 1 else { throw MediaError.noSuchPage(number) }
            return try await disk.fetcher.withContent(of: item, for: subject.account, subject.result) { file in
                try await request.whileClientWaits {
                    try await media.pictures.scale(.file(file), width: width, height: 4 * width)
                }
            }
        case (.pdf, _):
            return try await disk.fetcher.withContent(of: item, for: subject.account, subject.result) { file in
                try await request.whileClientWaits { try await media.pages.picture(of: number, in: file, width: width) }
            }
        case (_, let format?):
            let document = try await document(of: subject, format, .useCache)
            return try await disk.fetcher.withFile(document.body) { file in
                try await request.whileClientWaits { try await media.pages.picture(of: number, in: file, width: width) }
            }
        default:
            throw MediaError.unsupported(
                item.fileExtension.isEmpty ? "a file without an extension" : ".\(item.fileExtension)"
            )
        }
    }

    /// Returns the PDF of an office file, made and stored if it is not there yet.
    func document(of subject: Subject, _ format: OfficeFormat, _ cachePolicy: CachePolicy) async throws -> StoredFile {
        let (item, account) = (subject.item, subject.account)
        if let stored = try await files.open(.document, of: item, account: account.id) { return stored }
        guard cachePolicy != .onlyIfCached else { throw disk.client.notStored }
        guard media.office.isAvailable else { throw Problem(.toolMissing(.soffice)) }
        return try await locks.holding([subject.key("document")]) {
            if let stored = try await files.open(.document, of: item, account: account.id) { return stored }
            return try await converted(subject, format)
        }
    }

    private func converted(_ subject: Subject, _ format: OfficeFormat) async throws -> StoredFile {
        let (item, account, request) = (subject.item, subject.account, subject.request)
        let converted = disk.scratch.place(".pdf")
        defer { withExtendedLifetime(converted) {} }
        let target = URL(filePath: converted.path)
        do {
            try await failures.drawing(subject.key("document"), at: disk.clock.now) {
                try await disk.fetcher.withContent(of: item, for: account, subject.result) { file in
                    try await request.whileClientWaits {
                        try await media.office.convert(file, format: format, to: target)
                    }
                }
            }
        } catch let error as MediaError {
            throw Problem(error)
        }
        let blob = try disk.store.database.blobs.adopt(converted)
        _ = try await files.save(.blob(blob), as: .document, of: item, type: "application/pdf", for: account)
        guard let stored = try await files.open(.document, of: item, account: account.id) else {
            throw Problem.fileChanges
        }
        return stored
    }
}

extension Problem {
    /// Explains why there is no picture or PDF of a file.
    init(_ error: MediaError) {
        switch error {
        case .toolMissing(.soffice):
            self.init(
                .toolMissing,
                "LibreOffice is not installed where Larder runs, so office files cannot be shown as PDF or as pictures."
            )
        case .toolMissing(let tool):
            self.init(
                .toolMissing,
                "\(tool.executable) is not installed where Larder runs, so the file cannot be shown as a picture."
            )
        case .unconfined:
            self.init(
                .toolMissing,
                "Office files are converted only where the kernel can keep LibreOffice from other files "
                    + "(Landlock and seccomp, Linux 5.13 or later)."
            )
        case .overloaded:
            self.init(.overloaded, "Too many pictures are being made already.", headerFields: [.retryAfter: "5"])
        case .tooLarge: self.init(.tooLarge, "The file is too large to be shown as a picture.")
        case .noSuchPage(let number): self = .notFound("The file has no page \(number).")
        case .unsupported(let kind): self.init(.unsupportedMediaType, "There is no picture of this file (\(kind)).")
        case .undecodable(let kind):
            self.init(.unsupportedMediaType, "The file is of a kind of \(kind) that this server cannot read.")
        case .encrypted: self.init(.unsupportedMediaType, "The file needs a password.")
        case .unavailable, .failed: self = .processingUnavailable
        case .storageFull: self = .storageFull
        case .timedOut, .damaged, .tooManyPages, .noGlyphs, .crashed:
            self.init(.unsupportedMediaType, "The file cannot be shown as a picture: it is broken, or takes too long.")
        }
    }
}
