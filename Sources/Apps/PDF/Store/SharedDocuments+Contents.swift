import AppInterface
import Concurrency
import Database
import Foundation
import Journal
import NIOCore
import Screens
import SharedStore
import Synchronization

/// Files of documents (``SharedContents``). One is stored before its document is made.
extension SharedDocuments {
    static let contents = SharedContents("pdf_content")

    // MARK: Reading

    func content(of document: Document) async throws -> FileContent {
        guard let content = try await contentIfPresent(of: document) else {
            throw StorageError.blobUnavailable(document.blob.id)
        }
        return content
    }

    /// Returns the file of a document, to be sent; nil if it does not exist any more.
    func contentIfPresent(of document: Document) async throws -> FileContent? {
        let blob = document.blob
        guard try await Self.contents.has(blob, in: database) else { return nil }
        return FileContent(
            type: SourceFormat.pdf.mediaType,
            length: blob.length,
            version: "\(blob.id)",
            fileName: document.fileName,
            disposition: .attachment
        ) { [database] range in Self.contents.parts(of: blob, range, in: database) }
    }

    func file(of document: Document) async throws -> DocumentFile {
        let copy = try await copies.copy(of: document.blob) {
            do {
                let file = try scratch.file(".pdf")
                let blob = document.blob
                for try await part in Self.contents.parts(of: blob, 0..<blob.length, in: database) {
                    try file.append(part.readableBytesView)
                }
                return file.place
            } catch StorageError.blobUnavailable {
                throw DocumentStore.Gone()
            }
        }
        return DocumentFile(copy)
    }

    // MARK: Writing

    func stage(_ place: TemporaryPath) throws -> StagedFile {
        let length = try FileManager.default.attributesOfItem(atPath: place.path)[.size] as? Int
        return StagedFile(blob: Blob(id: .random(), length: length ?? 0), place: place)
    }

    /// Does nothing: the file is removed with the last reference to it.
    func discard(_ file: StagedFile) {}

    /// Stores files, and makes the change that refers to them. If that fails, they are removed.
    func storing<Value: Sendable>(_ files: [StagedFile], _ change: () async throws -> Value) async throws -> Value {
        do {
            for file in files { try await store(file) }
            // Nothing is changed for a client that has left.
            try Task.checkCancellation()
            return try await change()
        } catch {
            await Self.contents.discard(files.map(\.blob), in: database)
            throw error
        }
    }

    private func store(_ file: StagedFile) async throws {
        guard let place = file.place else { throw StorageError.blobUnavailable(file.blob.id) }
        let source = try OpenFile(place.path, O_RDONLY)
        try await Self.contents.store(file.blob, in: database) { range in
            try source.read(at: range.lowerBound, count: range.count)
        }
    }

    /// Removes the rows of documents whose files have no reader any more.
    static func remove(_ documents: [Document], _ transaction: SQLTransaction) throws {
        let delete = "DELETE FROM pdf_document WHERE sequence = ANY($1)"
        try transaction.execute(delete, [documents.map { Int($0.sequence) }])
        try contents.abandon(documents.map(\.blob), transaction)
    }

    // MARK: Removal

    /// Removes the remains of a change: the pictures of pages, and contents without a reader. If that fails, they are
    /// removed later (``removeContents(unusedFor:)``, ``removeThumbnails()``).
    func clean<Value>(after outcome: Outcome<Value>) async {
        guard !outcome.pages.isEmpty || outcome.hasRemoved else { return }
        await Task {
            _ = try? await removeThumbnails(of: Array(Set(outcome.pages)))
            if outcome.hasRemoved { await Self.contents.removeSome(in: database) }
        }.value
    }

    /// Removes contents that no document has had for a time.
    ///
    /// - Returns: their number.
    func removeContents(unusedFor age: Duration = SharedContents.lifetime) async throws -> Int {
        try await Self.contents.removeUnused(in: database, for: age)
    }

    // MARK: Thumbnails

    func save(
        _ thumbnail: ThumbnailStore.Thumbnail,
        of page: DocumentPage,
        width: Int,
        in thumbnails: ThumbnailStore,
        budget: Int,
        at now: Date
    ) async throws {
        // The document may have been deleted while the page was drawn.
        guard try await unknown([page.content]).isEmpty else { return }
        try await thumbnails.save(thumbnail, of: page, width: width, budget: budget, at: now)
    }

    /// Removes the thumbnails of pages that no document has any more, also of those that other servers have removed.
    ///
    /// - Returns: the number of these pages.
    func removeThumbnails() async throws -> Int {
        var (count, last) = (0, "")
        while true {
            let contents = try thumbnails.contents(after: last, limit: 1000)
            guard let next = contents.last else { return count }
            count += try await removeThumbnails(of: contents)
            last = next
        }
    }

    private func removeThumbnails(of contents: [String]) async throws -> Int {
        let unknown = try await unknown(contents)
        try await thumbnails.forget(contents: unknown)
        return unknown.count
    }

    /// Returns those of the contents that no page has.
    private func unknown(_ contents: [String]) async throws -> Set<String> {
        guard !contents.isEmpty else { return [] }
        let sql = "SELECT DISTINCT content FROM pdf_page WHERE content = ANY($1)"
        return Set(contents).subtracting(try await database.rows(sql, [contents]) { try $0.value("content") as String })
    }
}

/// Copies of the files of shared documents, for programs of this server. A file is fetched once for all concurrent
/// readers, and removed with the last of them.
final class DocumentCopies: Sendable {
    private struct Copy {
        weak var place: TemporaryPath?
    }

    private let copies = Mutex<[BlobID: Copy]>([:])
    /// By the file.
    private let locks = KeyedMutex()

    /// Returns the copy of a file.
    ///
    /// - Parameter fetch: makes one.
    /// - Throws: errors of `fetch`; `CancellationError`.
    func copy(of blob: Blob, fetch: () async throws -> TemporaryPath) async throws -> TemporaryPath {
        try await locks.holding([blob.id.description]) {
            if let known = copies.withLock({ $0[blob.id]?.place }) { return known }
            let place = try await fetch()
            copies.withLock { copies in
                copies = copies.filter { $0.value.place != nil }
                copies[blob.id] = Copy(place: place)
            }
            return place
        }
    }
}
