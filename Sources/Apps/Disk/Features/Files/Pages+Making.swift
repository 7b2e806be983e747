import Concurrency
import Foundation
import HTTP
import Media
import Screens
import Storage
import Upstream

// Pictures and PDFs made of files: each at most once at a time, not again after a failure, and not for a disconnected
// client.
extension Pages {
    /// Makes a picture of a page, and stores it.
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
        let now = clock.now()
        return .picture(picture.data, type: type, provenance: .fetched(at: now, stored: isStored), now: now)
    }

    private func picture(of subject: Subject, page number: Int, width: Int) async throws -> RenderedPicture {
        guard let media else { throw Problem(.toolMissing(.pdftoppm)) }
        do {
            return try await failures.drawing(subject.key("page \(number)"), at: clock.now) {
                try await picture(of: subject, page: number, width: width, by: media)
            }
        } catch let error as MediaError {
            throw Problem(error)
        }
    }

    private func picture(of subject: Subject, page number: Int, width: Int, by media: MediaEngine) async throws
        -> RenderedPicture
    {
        let (item, request) = (subject.item, subject.request)
        switch (item.viewer, OfficeFormat(fileName: item.name)) {
        case (.image, _):
            guard number == 1 else { throw MediaError.noSuchPage(number) }
            return try await lender.withContent(of: item, for: subject.account, subject.result) { file in
                try await request.whileClientWaits {
                    try await media.pictures.scale(.file(file), width: width, height: 4 * width)
                }
            }
        case (.pdf, _):
            return try await lender.withContent(of: item, for: subject.account, subject.result) { file in
                try await request.whileClientWaits { try await media.pages.picture(of: number, in: file, width: width) }
            }
        case (_, let format?):
            let document = try await document(of: subject, format, .useCache)
            return try await lender.withFile(document.body) { file in
                try await request.whileClientWaits { try await media.pages.picture(of: number, in: file, width: width) }
            }
        default:
            throw MediaError.unsupported(
                item.fileExtension.isEmpty ? "a file without an extension" : ".\(item.fileExtension)"
            )
        }
    }

    /// Returns the PDF of an office file, made and stored if it is not there yet.
    func document(of subject: Subject, _ format: OfficeFormat, _ cachePolicy: CachePolicy) async throws
        -> StoredFile
    {
        let (item, account) = (subject.item, subject.account)
        if let stored = try await files.open(.document, of: item, account: account.id) { return stored }
        guard cachePolicy != .onlyIfCached else { throw client.notStored }
        guard let media, media.office.isAvailable else { throw Problem(.toolMissing(.soffice)) }
        return try await locks.holding([subject.key("document")]) {
            if let stored = try await files.open(.document, of: item, account: account.id) { return stored }
            return try await converted(subject, format, by: media)
        }
    }

    /// Converts an office file, and stores the PDF.
    private func converted(_ subject: Subject, _ format: OfficeFormat, by media: MediaEngine) async throws
        -> StoredFile
    {
        let (item, account, request) = (subject.item, subject.account, subject.request)
        let converted = lender.scratch.place(".pdf")
        defer { withExtendedLifetime(converted) {} }
        let target = URL(filePath: converted.path)
        do {
            try await failures.drawing(subject.key("document"), at: clock.now) {
                try await lender.withContent(of: item, for: account, subject.result) { file in
                    try await request.whileClientWaits {
                        try await media.office.convert(file, format: format, to: target)
                    }
                }
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
