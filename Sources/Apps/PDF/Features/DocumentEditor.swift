import Concurrency
import Foundation
import HTTPTypes
import Screens
import Storage

/// Changes the pages of a document: one change at a time, each a new file, which replaces the old one in one
/// transaction or not at all.
struct DocumentEditor: Sendable {
    /// The new file and pages of a document.
    struct Change: Sendable {
        var file: Blob
        var pages: [DocumentPage]
        /// Those of the pages that are new; nil if the change adds none.
        var added: AddedPages?
    }

    let pdf: PDF

    /// Changes the document of the path.
    ///
    /// - Parameters:
    ///   - titles: the names of the client's files, for errors.
    ///   - effect: the effect on the quota and on earlier versions.
    ///   - plan: plans the change of the document while its lock is held; nil for no change. It is called again if
    ///     another server has changed the document meanwhile.
    ///   - work: makes the new file.
    /// - Throws: ``Problem``, 404 if the document is not there, 412 if a precondition does not hold; errors of the
    ///   closures.
    func change<Plan: Sendable>(
        _ request: ScreenRequest,
        titles: [String] = [],
        effect: DocumentStore.Effect = .change,
        plan: @escaping @Sendable (Document) throws -> Plan?,
        work:
            @escaping @Sendable (Document, Plan, _ progress: @escaping DocumentJobs.Progress) async throws -> Change
    ) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try await pdf.lookup.document(request, profile: profile).id
        return try await pdf.locks.holding([id]) {
            let before = try await pdf.lookup.documentToChange(request, profile: profile)
            guard try plan(before) != nil else { return try pdf.lookup.reader(before, profile: profile) }
            let (after, answer) = try await pdf.jobs.run(request, on: before, profile: profile, titles: titles) {
                progress in
                try await pdf.lookup.retrying { () -> (DocumentStore.Changed, ScreenResponse) in
                    let document = try await pdf.lookup.documentToChange(request, profile: profile)
                    guard let plan = try plan(document) else {
                        let same = DocumentStore.Changed(
                            document: document,
                            usage: try pdf.store.usage(profile: profile)
                        )
                        return (same, try pdf.lookup.reader(same, profile: profile))
                    }
                    let change = try await work(document, plan, progress)
                    return try await request.answering {
                        try response($0, change.added, profile: profile)
                    } to: {
                        try await replace(document, by: change, effect, profile: profile)
                    }
                }
            }
            pdf.events.publishList(after.revision, of: profile)
            return answer
        }
    }

    private func response(_ after: DocumentStore.Changed, _ added: AddedPages?, profile: String) throws
        -> ScreenResponse
    {
        guard let added else { return try pdf.lookup.reader(after, profile: profile) }
        let conditions = pdf.lookup.conditions(beside: after.usage, profile)
        let screen = DocumentAdditionScreen(after.document, added, conditions)
        return try .changed(after.document, as: screen, "pdf.reader", conditions)
    }

    private func replace(
        _ before: Document,
        by change: Change,
        _ effect: DocumentStore.Effect,
        profile: String
    ) async throws -> DocumentStore.Changed {
        try await pdf.store.replace(
            before,
            file: change.file,
            pages: change.pages,
            draftUntil: draftUntil,
            effect: effect,
            pdf.lookup.history(of: profile)
        )
    }

    /// The end of a draft that is changed now.
    private var draftUntil: Date { pdf.clock.now() + pdf.options.settings[PDFApp.draftLifetime].seconds }

    /// `POST …/undo`: restores the document before its last change.
    @Sendable func undo(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try request.parameter("id")
        return try await pdf.locks.holding([id]) {
            let (changed, response) = try await pdf.lookup.retrying {
                let document = try await pdf.lookup.documentToChange(request, profile: profile)
                return try await request.answering { (changed: DocumentStore.Changed) in
                    try pdf.lookup.reader(changed, profile: profile)
                } to: {
                    try await pdf.store.undo(document, draftUntil: draftUntil, profile: profile)
                }
            }
            pdf.events.publishList(changed.revision, of: profile)
            return response
        }
    }
}

/// Finds the document that a request is about.
struct DocumentLookup: Sendable {
    /// The most attempts at a change, each of the current document, before the request is refused with `overloaded`.
    private static let mostAttempts = 20

    let pdf: PDF

    func history(of profile: String) -> DocumentStore.History {
        DocumentStore.History(
            profile: profile,
            now: pdf.clock.now(),
            quota: pdf.options.quota(of: profile),
            isKept: pdf.options.hasTrash
        )
    }

    /// Returns the document of the path.
    ///
    /// - Throws: ``Problem``, 404 if the profile has no document of that id.
    func document(_ request: ScreenRequest, profile: String) async throws -> Document {
        try await document(try request.parameter("id"), profile: profile)
    }

    /// - Throws: ``Problem``, 404 if the profile has none.
    func document(_ id: String, profile: String) async throws -> Document {
        _ = try await pdf.store.catchUp()
        guard let document = try pdf.store.document(id, profile: profile, at: pdf.clock.now()) else {
            throw Problem.noDocument
        }
        return document
    }

    /// Returns the response that shows a document after a change.
    func reader(_ changed: DocumentStore.Changed, isNew: Bool = false, profile: String) throws -> ScreenResponse {
        try .reader(changed.document, isNew: isNew, conditions(beside: changed.usage, profile))
    }

    /// Returns the response that shows a document which a request did not have to change.
    func reader(_ document: Document, profile: String) throws -> ScreenResponse {
        try reader(.init(document: document, usage: try pdf.store.usage(profile: profile)), profile: profile)
    }

    /// Returns the conditions of a profile that stores these bytes.
    func conditions(beside usage: StorageUsage, _ profile: String) -> DocumentScreen.Conditions {
        .init(refusal: pdf.options.quota(of: profile).refusalOfPages(beside: usage), hasUndo: pdf.options.hasTrash)
    }

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
        try await pdf.store.catchUpToChange()
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
            return try await pdf.store.content(of: try await document(request, profile: profile))
        } catch StorageError.blobUnavailable {
            return try await pdf.store.content(of: try await document(request, profile: profile))
        }
    }

    /// Makes a change of documents that it reads, and makes it again if another server was faster. On one server,
    /// changes wait for each other.
    ///
    /// - Throws: ``Problem``, 503 if others are faster again and again; errors of `change`, which throws a problem if
    ///   it cannot be made any more.
    func retrying<Result>(_ change: () async throws -> Result) async throws -> Result {
        for _ in 0..<Self.mostAttempts {
            do { return try await change() } catch is DocumentStore.Gone {}
        }
        throw Problem(
            .overloaded,
            "The document changes faster than it can be changed.",
            headerFields: [.retryAfter: "1"]
        )
    }
}

extension StorageQuota {
    /// Returns why no document can be made and no page added; nil if the smallest document has room.
    func refusalOfPages(beside usage: StorageUsage) -> Text? { refusal(beside: usage, of: DocumentStore.bytesBeside) }

    /// Checks that pages can be added, before the work of making them.
    ///
    /// - Throws: ``Problem`` 507 `quota-exceeded` if the smallest document has no room.
    func checkPages(beside usage: StorageUsage) throws(Problem) {
        try checkRoom(beside: usage, of: DocumentStore.bytesBeside)
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
    static let noDocument = Problem.notFound(.noDocument)
}
