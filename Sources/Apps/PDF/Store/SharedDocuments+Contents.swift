import Concurrency
import Database
import Foundation
import NIOCore
import Screens
import SharedStore

/// Files of documents in parts of 1 MiB, each read and written by a transaction of its own: no connection is held while
/// a client or a disk is slow, and no more than a part is in memory.
///
/// A file is stored before its document is made, and is of no document until that commits. What no document has is
/// removed after ``lifetime``, by any server: also the remains of one that has ended.
extension SharedDocuments {
    /// Bytes of a part; the last one has what is left.
    static let partBytes = 1 << 20
    /// The most parts that one transaction removes.
    private static let removedParts = 32
    /// How long a content without a document stays: a reader can finish when it is replaced, and the server that stores
    /// it has time for each part.
    static let lifetime = Duration.seconds(600)

    // MARK: Reading

    func content(of document: Document) async throws -> FileContent {
        guard let content = try await contentIfPresent(of: document) else {
            throw StorageError.blobUnavailable(document.blob.id)
        }
        return content
    }

    /// Returns the file of a document, to be sent; nil if it is no more.
    func contentIfPresent(of document: Document) async throws -> FileContent? {
        let (blob, sql) = (document.blob, "SELECT length FROM pdf_content WHERE id = $1")
        let lengths = try await database.rows(sql, [blob.id.description]) { try $0.value("length") as Int }
        guard lengths == [blob.length] else { return nil }
        return FileContent(
            type: SourceFormat.pdf.mediaType,
            length: blob.length,
            version: "\(blob.id)",
            fileName: document.fileName,
            disposition: .attachment
        ) { range in parts(of: blob, range) }
    }

    func file(of document: Document) async throws -> DocumentFile {
        let copy = try await copies.copy(of: document.blob) {
            do {
                let file = try scratch.file(".pdf")
                for try await part in parts(of: document.blob, 0..<document.blob.length) {
                    try file.append(part.readableBytesView)
                }
                return file.place
            } catch StorageError.blobUnavailable {
                throw DocumentStore.Gone()
            }
        }
        return DocumentFile(copy)
    }

    /// Returns the bytes in a range, one part or what is asked of it at a time.
    private func parts(of blob: Blob, _ range: Range<Int>) -> ByteStream {
        ByteStream { [database] in
            var rest = range
            return {
                guard !rest.isEmpty else { return nil }
                let (number, begin) = rest.lowerBound.quotientAndRemainder(dividingBy: Self.partBytes)
                let count = min(Self.partBytes - begin, rest.count)
                let parameters: [any SQLParameter] = [blob.id.description, number, begin + 1, count]
                let bytes = try await database.rows(Self.selectPart, parameters) { try $0.value("bytes") as Data }.first
                guard let bytes, bytes.count == count else { throw StorageError.blobUnavailable(blob.id) }
                rest = rest.dropFirst(count)
                return ByteBuffer(bytes: bytes)
            }
        }
    }

    private static let selectPart = """
        SELECT substring(bytes FROM $3::int4 FOR $4::int4) AS bytes FROM pdf_content_part
        WHERE content = $1 AND number = $2
        """

    // MARK: Writing

    func stage(_ place: TemporaryPath) throws -> StagedFile {
        let length = try FileManager.default.attributesOfItem(atPath: place.path)[.size] as? Int
        return StagedFile(blob: Blob(id: .random(), length: length ?? 0), place: place)
    }

    /// Does nothing: the file is removed with the last reference to it.
    func discard(_ file: StagedFile) {}

    /// Stores files, and makes the change that gives them to documents. If that fails, they are removed.
    func storing<Value: Sendable>(_ files: [StagedFile], _ change: () async throws -> Value) async throws -> Value {
        do {
            for file in files { try await store(file) }
            // A client that has left gets nothing.
            try Task.checkCancellation()
            return try await change()
        } catch {
            await remove(files)
            throw error
        }
    }

    private func store(_ file: StagedFile) async throws {
        guard let place = file.place else { throw StorageError.blobUnavailable(file.blob.id) }
        let (id, length) = (file.blob.id.description, file.blob.length)
        let source = try OpenFile(place.path, O_RDONLY)
        for (number, offset) in stride(from: 0, to: max(1, length), by: Self.partBytes).enumerated() {
            try Task.checkCancellation()
            let bytes = try source.read(at: offset, count: min(Self.partBytes, length - offset))
            guard bytes.count == min(Self.partBytes, length - offset) else {
                throw StorageError.blobUnavailable(file.blob.id)
            }
            try await database.write(turns: [Self.turn(id)]) { transaction in
                let row =
                    number == 0
                    ? try transaction.rows(Self.insertContent, [id, length]).first
                    : try transaction.rows(Self.prolong, [id]).first
                guard row != nil else { throw StorageError.blobUnavailable(file.blob.id) }
                let insert = "INSERT INTO pdf_content_part (content, number, bytes) VALUES ($1, $2, $3)"
                try transaction.execute(insert, [id, number, bytes])
            }
        }
    }

    private static func turn(_ content: String) -> String { "pdf/content/\(content)" }

    // No reader needs a part before its document commits, which has everything before it written, and confirmed by
    // standbys. So the commit of a part waits for neither.
    private static let insertContent = """
        INSERT INTO pdf_content (id, length) VALUES ($1, $2)
        RETURNING set_config('synchronous_commit', 'off', true) AS setting
        """
    private static let prolong = """
        UPDATE pdf_content SET unused = now() WHERE id = $1 AND unused > '-infinity'
        RETURNING set_config('synchronous_commit', 'off', true) AS setting
        """

    /// Gives a stored file to a document, in the transaction that makes it.
    static func use(_ blob: Blob, _ transaction: SQLTransaction) throws {
        let sql = "UPDATE pdf_content SET unused = NULL WHERE id = $1 AND unused > '-infinity'"
        guard try transaction.execute(sql, [blob.id.description]) == 1 else {
            throw StorageError.blobUnavailable(blob.id)
        }
    }

    /// Takes a file from a document that has another one now.
    static func release(_ blob: Blob, _ transaction: SQLTransaction) throws {
        try transaction.execute("UPDATE pdf_content SET unused = now() WHERE id = $1", [blob.id.description])
    }

    /// Removes the rows of documents whose files have no reader any more.
    static func remove(_ documents: [Document], _ transaction: SQLTransaction) throws {
        let delete = "DELETE FROM pdf_document WHERE sequence = ANY($1)"
        try transaction.execute(delete, [documents.map { Int($0.sequence) }])
        let contents = documents.map(\.blob.id.description)
        try transaction.execute("UPDATE pdf_content SET unused = '-infinity' WHERE id = ANY($1)", [contents])
    }

    // MARK: Removal

    /// Removes files that no document has got, or whose commit is unknown and was not made.
    private func remove(_ files: [StagedFile]) async {
        let contents = files.map(\.blob.id.description)
        // The request may be cancelled. What cannot be removed now is removed later.
        await Task {
            let sql = "UPDATE pdf_content SET unused = '-infinity' WHERE id = ANY($1) AND unused IS NOT NULL"
            let isMarked: Void? = try? await database.write(turns: contents.map(Self.turn)) { transaction in
                try transaction.execute(sql, [contents])
                return
            }
            if isMarked != nil { _ = try? await removeContents(mostParts: Self.partsAtOnce) }
        }.value
    }

    /// The most parts that a request removes itself.
    private static let partsAtOnce = 64

    /// Removes what a change has left: the pictures of pages, and contents without a reader. What cannot be
    /// removed now is removed later (``removeContents(unusedFor:mostParts:)``, ``removeThumbnails()``).
    func clean<Value>(after outcome: Outcome<Value>) async {
        guard !outcome.pages.isEmpty || outcome.hasRemoved else { return }
        await Task {
            _ = try? await removeThumbnails(of: Array(Set(outcome.pages)))
            if outcome.hasRemoved { _ = try? await removeContents(mostParts: Self.partsAtOnce) }
        }.value
    }

    /// Removes contents that no document has had for a time.
    ///
    /// - Parameters:
    ///   - age: the time; those that may not be read any more are removed in any case.
    ///   - most: the most parts; a few more are removed.
    /// - Returns: how many contents were removed.
    func removeContents(unusedFor age: Duration = lifetime, mostParts most: Int = .max) async throws -> Int {
        var (contents, parts) = (0, 0)
        while parts < most {
            let removed = try await database.write(turns: ["pdf/contents"]) { transaction in
                try Self.removeParts(unusedFor: age, transaction)
            }
            guard let removed else { break }
            parts += removed.parts
            if removed.isWhole { contents += 1 }
        }
        return contents
    }

    /// Removes some parts of one content, and it with the last of them.
    ///
    /// - Returns: nil if there is none.
    private static func removeParts(unusedFor age: Duration, _ transaction: SQLTransaction) throws
        -> (parts: Int, isWhole: Bool)?
    {
        // From here on, no document can get it.
        let claim = """
            UPDATE pdf_content SET unused = '-infinity'
            WHERE unused IS NOT NULL AND id =
                (SELECT id FROM pdf_content WHERE unused <= now() - make_interval(secs => $1) ORDER BY unused LIMIT 1)
            RETURNING id
            """
        guard let id: String = try transaction.rows(claim, [age / .seconds(1)]).first?.value("id") else { return nil }
        let delete = """
            DELETE FROM pdf_content_part WHERE content = $1 AND number IN
                (SELECT number FROM pdf_content_part WHERE content = $1 ORDER BY number LIMIT \(removedParts))
            """
        let parts = try transaction.execute(delete, [id])
        guard parts < removedParts else { return (parts, false) }
        try transaction.execute("DELETE FROM pdf_content WHERE id = $1", [id])
        return (parts, true)
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

    /// Removes the thumbnails of pages that no document has any more, whichever server has removed them.
    ///
    /// - Returns: of how many pages.
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

    /// Returns which of these contents no page has.
    private func unknown(_ contents: [String]) async throws -> Set<String> {
        guard !contents.isEmpty else { return [] }
        let sql = "SELECT DISTINCT content FROM pdf_page WHERE content = ANY($1)"
        return Set(contents).subtracting(try await database.rows(sql, [contents]) { try $0.value("content") as String })
    }
}
