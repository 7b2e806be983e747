import Concurrency
import Database
import Foundation
import Freshness
import Screens

/// Changes the pages of a document: one change at a time, each a new file beside the old one, which the document gets
/// in one transaction or not at all.
struct DocumentEditor: Sendable {
    /// The new file and pages of a document, and what the response needs beside.
    struct Change<Detail: Sendable>: Sendable {
        var file: StagedFile
        var pages: [DocumentPage]
        var detail: Detail
    }

    let lookup: DocumentLookup
    let jobs: DocumentJobs
    /// By id of the document.
    let locks: KeyedMutex
    let draftLifetime: Duration

    private var store: any Documents { lookup.store }

    /// Changes the document of the path.
    ///
    /// - Parameters:
    ///   - titles: the names of the client's files, for errors.
    ///   - quota: what the profile may store, of a change that adds to the document.
    ///   - plan: decides, of the document as it is while its lock is held, what is to be done; nil for nothing. It is
    ///     asked again if another server has changed the document meanwhile.
    ///   - work: makes the new file.
    ///   - response: makes the response of the document after the change.
    /// - Throws: ``Problem``, 404 if the document is not there, 412 if a precondition does not hold; what the closures
    ///   throw.
    func change<Plan: Sendable, Detail: Sendable>(
        _ request: ScreenRequest,
        titles: [String] = [],
        quota: StorageQuota = .unlimited,
        plan: @escaping @Sendable (Document) throws -> Plan?,
        work:
            @escaping @Sendable (Document, Plan, _ progress: @escaping DocumentJobs.Progress) async throws
            -> Change<Detail>,
        response: @Sendable (Document, Detail) throws -> ScreenResponse
    ) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try await lookup.document(request, profile: profile).id
        return try await locks.holding([id]) {
            let read = { @Sendable () in
                let document = try await lookup.documentToChange(request, profile: profile)
                return (document, try plan(document))
            }
            let (before, first) = try await read()
            guard first != nil else { return try .reader(before) }
            let (after, detail) = try await jobs.run(request, on: before, profile: profile, titles: titles) {
                progress in
                try await DocumentLookup.repeating((before, first), again: read) {
                    document,
                    plan -> (DocumentStore.Changed, Detail?) in
                    guard let plan else { return ((document, nil), nil) }
                    let change = try await work(document, plan, progress)
                    return (try await replace(document, by: change, profile: profile, quota), change.detail)
                }
            }
            jobs.events.publishList(after.revision, of: profile)
            guard let detail else { return try .reader(after.document) }
            return try response(after.document, detail)
        }
    }

    private func replace<Detail>(
        _ before: Document,
        by change: Change<Detail>,
        profile: String,
        _ quota: StorageQuota
    ) async throws -> DocumentStore.Changed {
        try await store.replace(
            before,
            file: change.file,
            pages: change.pages,
            profile: profile,
            draftUntil: lookup.clock.now().addingTimeInterval(draftLifetime.seconds),
            quota: quota
        )
    }
}
