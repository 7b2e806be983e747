import Database
import Foundation
import GRDB
import Screens

extension DocumentStore: Documents {
    func documentReader(_ id: String, profile: String, at now: Date) -> () throws -> Document? {
        { try document(id, profile: profile, at: now) }
    }

    func stage(_ place: TemporaryPath) throws -> StagedFile {
        StagedFile(blob: try database.blobs.adopt(place), place: nil)
    }

    func discard(_ file: StagedFile) { database.blobs.discard(file.blob) }

    func file(of document: Document) -> DocumentFile {
        DocumentFile(path: database.blobs.filePath(of: document.blob))
    }

    func content(of document: Document) throws -> FileContent {
        FileContent(
            blob: try database.blobs.reader(document.blob),
            type: SourceFormat.pdf.mediaType,
            version: "\(document.blob.id)",
            fileName: document.fileName,
            disposition: .attachment
        )
    }

    func save(
        _ thumbnail: ThumbnailStore.Thumbnail,
        of page: DocumentPage,
        width: Int,
        in thumbnails: ThumbnailStore,
        budget: Int,
        at now: Date
    ) async throws {
        try await thumbnails.save(thumbnail, of: page, width: width, budget: budget, at: now) { db in
            // The document may have been deleted while the page was drawn; then nothing of it may stay.
            let select = try db.cachedStatement(sql: "SELECT 1 FROM pdf_page WHERE content = ?")
            return try Row.fetchOne(select, arguments: [page.content]) != nil
        }
    }
}
