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
        var blob: Blob
        var pages: [DocumentPage]
        var detail: Detail
    }

    let lookup: DocumentLookup
    let jobs: DocumentJobs
    /// By id of the document.
    let locks: KeyedMutex
    let draftLifetime: Duration

    private var store: DocumentStore { lookup.store }

    /// Changes the document of the path.
    ///
    /// - Parameters:
    ///   - titles: the names of the client's files, for errors.
    ///   - quota: what the profile may store, of a change that adds to the document.
    ///   - plan: decides, of the document as it is while its lock is held, what is to be done; nil for nothing.
    ///   - work: makes the new file.
    ///   - response: makes the response of the document after the change.
    /// - Throws: ``Problem``, 404 if the document is not there, 412 if a precondition does not hold; what the closures
    ///   throw.
    func change<Plan: Sendable, Detail: Sendable>(
        _ request: ScreenRequest,
        titles: [String] = [],
        quota: StorageQuota = .unlimited,
        plan: @Sendable (Document) throws -> Plan?,
        work:
            @escaping @Sendable (Document, Plan, _ progress: @escaping DocumentJobs.Progress) async throws
            -> Change<Detail>,
        response: @Sendable (Document, Detail) throws -> ScreenResponse
    ) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try lookup.document(request, profile: profile).id
        return try await locks.holding([id]) {
            let before = try lookup.documentToChange(request, profile: profile)
            guard let plan = try plan(before) else { return try .reader(before) }
            let (after, detail) = try await jobs.run(request, on: before, profile: profile, titles: titles) {
                progress in
                let change = try await work(before, plan, progress)
                return (try await replace(before, by: change, profile: profile, quota), change.detail)
            }
            jobs.events.publishList(after.revision, of: profile)
            return try response(after.document, detail)
        }
    }

    private func replace<Detail>(
        _ before: Document,
        by change: Change<Detail>,
        profile: String,
        _ quota: StorageQuota
    ) async throws -> DocumentStore.Changed {
        do {
            return try await store.replace(
                before,
                blob: change.blob,
                pages: change.pages,
                profile: profile,
                draftUntil: lookup.clock.now().addingTimeInterval(draftLifetime.seconds),
                quota: quota
            )
        } catch is DocumentStore.Gone {
            throw Problem.noDocument(before.id)
        }
    }
}
