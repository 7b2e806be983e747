import Database
import Foundation
import Freshness
import HTTPTypes
import Screens

/// Finds the document that a request is about.
struct DocumentLookup: Sendable {
    let store: DocumentStore
    let clock: WallClock

    /// Returns the document of the path.
    ///
    /// - Throws: ``Problem``, 404 if the profile has no document of that id.
    func document(_ request: ScreenRequest, profile: String) throws -> Document {
        try document(try request.parameter("id"), profile: profile)
    }

    /// Returns the document of this id.
    ///
    /// - Throws: ``Problem``, 404 if the profile has none.
    func document(_ id: String, profile: String) throws -> Document {
        guard let document = try store.document(id, profile: profile, at: clock.now()) else {
            throw Problem.noDocument(id)
        }
        return document
    }

    /// Returns the saved document of this id.
    ///
    /// - Throws: ``Problem``, 404 if the profile has none, 409 if it is a draft.
    func savedDocument(_ id: String, profile: String) throws -> Document {
        let document = try document(id, profile: profile)
        guard !document.isDraft else {
            let save: Link = "\(DocumentProperties.href(id))/save"
            throw Problem(.notSaved, "\(id) is a draft; POST \(save) saves it.")
        }
        return document
    }

    /// Returns the document of the path to a caller that holds its lock and is about to change it.
    ///
    /// - Throws: ``Problem``, 404 as above, 412 if a precondition does not hold for its version.
    func documentToChange(_ request: ScreenRequest, profile: String) throws -> Document {
        let document = try document(request, profile: profile)
        try request.writePreconditions().check(version: document.version)
        return document
    }

    /// Returns a document and its open file. A change between the two reads replaces the file; then both are read once
    /// more.
    ///
    /// - Throws: ``Problem``, 404 as above; ``StorageError`` if the file cannot be opened.
    func openDocument(_ request: ScreenRequest, profile: String) throws -> (Document, BlobReader) {
        let document = try document(request, profile: profile)
        do {
            return (document, try store.database.blobs.reader(document.blob))
        } catch StorageError.blobUnavailable {
            let again = try self.document(request, profile: profile)
            return (again, try store.database.blobs.reader(again.blob))
        }
    }
}

extension Document {
    /// Returns the position of a page, from 0.
    ///
    /// - Throws: ``Problem``, 404 if there is no page of that id.
    func index(of page: String) throws -> Int {
        guard let index = pages.firstIndex(where: { $0.id == page }) else {
            throw Problem.notFound("The document has no page \(page).")
        }
        return index
    }
}

extension Problem {
    static func noDocument(_ id: String) -> Problem { .notFound(.noDocument(id)) }
}
