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
    let accounts: DiskAccounts
    let items: ProjectedItems
    let files: StoredFiles
    let lender: FileLender
    /// Makes pictures and PDFs; nil to disable that.
    let media: MediaEngine?
    let clock: WallClock
    /// The pictures and PDFs that recently could not be drawn.
    let failures = DrawingFailures()
    /// Held by the request that makes a picture or a PDF, so that nothing is made twice at once.
    let locks = KeyedMutex()

    var client: YandexDiskClient { accounts.reader.client }

    /// A file that is shown, with its account and the read of its metadata.
    struct Subject {
        let item: DiskItem
        let account: DiskAccount
        let result: ReadResult
        /// The request for it: the work is cancelled if its client disconnects.
        let request: ScreenRequest

        /// Identifies a picture or PDF made of this version of the file.
        func key(_ product: String) -> String { "\(account.id) \(item.path.text) \(item.version ?? "") \(product)" }
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
        let subject = Subject(item: item, account: account, result: result, request: request)
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
        let cachePolicy = try request.cachePolicy()
        let witness = client.upstream.witness()
        let (account, found) = try await accounts.account(of: session) { account in
            try items.storedFile(path, for: account, cachePolicy, since: witness).map { item, result in
                let body = DiskStore.Body.page(number, width: width)
                return (item, result, try files.find(body, of: item, account: account.id))
            }
        }
        let known: Subject
        if let (item, result, body) = found {
            known = Subject(item: item, account: account, result: result, request: request)
            if let stored = try await picture(body, known) { return stored }
        } else {
            let (row, result) = try await items.file(path, for: account, cachePolicy)
            known = Subject(item: row.item, account: account, result: result, request: request)
            if let stored = try await stored(known, page: number, width: width) { return stored }
        }
        guard cachePolicy != .onlyIfCached else { throw client.notStored }
        let subject = try await present(known)
        return try await locks.holding([subject.key("page \(number)")]) {
            if let picture = try await stored(subject, page: number, width: width) { return picture }
            return try await rendered(subject, page: number, width: width)
        }
    }

    /// Returns the stored picture of a page; nil if there is none.
    private func stored(_ subject: Subject, page number: Int, width: Int) async throws -> ScreenResponse? {
        let body = DiskStore.Body.page(number, width: width)
        return try await picture(try files.find(body, of: subject.item, account: subject.account.id), subject)
    }

    private func picture(_ found: StoredFiles.Found, _ subject: Subject) async throws -> ScreenResponse? {
        guard let stored = try await files.open(found, of: subject.item, account: subject.account.id) else {
            return nil
        }
        let bytes = try stored.bytes()
        return PictureType(of: bytes).map {
            .picture(bytes, type: $0, provenance: stored.provenance(subject.result), now: clock.now())
        }
    }

    /// Returns the version to make a picture of: an outdated one only if its content is stored or the API is
    /// unreachable.
    private func present(_ known: Subject) async throws -> Subject {
        let (item, account, result) = (known.item, known.account, known.result)
        let isUsable =
            try !result.provenance.stale || files.find(.content, of: item, account: account.id).hasPresent(item)
        guard !isUsable, !result.provenance.offline else { return known }
        let present = try await items.presentVersion(of: item, result, for: account)
        return Subject(item: present, account: account, result: result, request: known.request)
    }
}
