import Database
import Foundation
import Freshness
import HTTPTypes
import Screens

/// Finds the document that a request is about.
struct DocumentLookup: Sendable {
    /// How often a change is made, each time of what the document is then, before the client is told to try again.
    private static let mostAttempts = 20

    let store: any Documents
    let clock: WallClock

    /// Returns the document of the path.
    ///
    /// - Throws: ``Problem``, 404 if the profile has no document of that id.
    func document(_ request: ScreenRequest, profile: String) async throws -> Document {
        try await document(try request.parameter("id"), profile: profile)
    }

    /// Returns the document of this id.
    ///
    /// - Throws: ``Problem``, 404 if the profile has none.
    func document(_ id: String, profile: String) async throws -> Document {
        guard let document = try await store.document(id, profile: profile, at: clock.now()) else {
            throw Problem.noDocument(id)
        }
        return document
    }

    /// Returns the saved document of this id.
    ///
    /// - Throws: ``Problem``, 404 if the profile has none, 409 if it is a draft.
    func savedDocument(_ id: String, profile: String) async throws -> Document {
        let document = try await document(id, profile: profile)
        guard !document.isDraft else {
            let save: Link = "\(DocumentProperties.href(id))/save"
            throw Problem(.notSaved, "\(id) is a draft; POST \(save) saves it.")
        }
        return document
    }

    /// Returns the document of the path to a caller that holds its lock and is about to change it.
    ///
    /// - Throws: ``Problem``, 404 as above, 412 if a precondition does not hold for its version.
    func documentToChange(_ request: ScreenRequest, profile: String) async throws -> Document {
        let document = try await document(request, profile: profile)
        try request.writePreconditions().check(version: document.version)
        return document
    }

    /// Returns the open file of a document. A change between the two reads replaces the file; then both are read once
    /// more.
    ///
    /// - Throws: ``Problem``, 404 as above; ``StorageError`` if the file cannot be opened.
    func content(_ request: ScreenRequest, profile: String) async throws -> FileContent {
        do {
            return try await store.content(of: try await document(request, profile: profile))
        } catch StorageError.blobUnavailable {
            return try await store.content(of: try await document(request, profile: profile))
        }
    }

    /// Makes a change of what was read, and makes it again of what it is then if another server was faster. On one
    /// server, changes wait for each other.
    ///
    /// - Parameters:
    ///   - subject: what was read.
    ///   - again: reads it again; throws a problem if the change cannot be made any more.
    /// - Throws: ``Problem``, 503 if others are faster again and again; what the closures throw.
    static func repeating<Subject, Result>(
        _ subject: Subject,
        again: () async throws -> Subject,
        _ change: (Subject) async throws -> Result
    ) async throws -> Result {
        var subject = subject
        for _ in 0..<mostAttempts {
            do {
                return try await change(subject)
            } catch is DocumentStore.Gone {
                subject = try await again()
            }
        }
        throw Problem(
            .overloaded,
            "The document changes faster than it can be changed.",
            headerFields: [.retryAfter: "1"]
        )
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
