import Cluster
import Concurrency
import Foundation
import Screens
import Storage

/// The trash: documents that were deleted and can be restored. Earlier versions are kept as long.
struct DocumentTrash: TrashFeature {
    struct Properties: Encodable, Identifiable, Sendable {
        let id: String
        let name: String
        let `extension` = "pdf"
        let size: Int
        let sizeText: Text
        let pageCount: Int
        let pageCountText: Text
    }

    static let trash = Trash.documents

    let pdf: PDF

    var lifetime: Duration { pdf.options.settings[PDFApp.trashLifetime] }
    var events: EventStream { pdf.events }

    /// `POST /v1/pdf/trash/{id}/restore`: restores the document unchanged. Repeating it changes nothing.
    @Sendable func restore(_ request: ScreenRequest) async throws -> ScreenResponse {
        let profile = try request.profile()
        let id = try request.parameter("id")
        let (restored, response) = try await request.answering { (restored: DocumentStore.Changed?) in
            guard let restored else { throw Problem.noDocument }
            return try pdf.lookup.reader(restored, profile: profile)
        } to: {
            try await pdf.store.restore(
                id,
                preconditions: request.writePreconditions(),
                profile: profile,
                at: pdf.clock.now()
            )
        }
        events.publishList(restored?.revision, of: profile, EventStream.listAndTrash)
        return response
    }

    /// Removes the earlier versions of documents that cannot be restored any more; all of them if the disk is full.
    ///
    /// - Returns: their number.
    @Sendable func purgeVersions(at now: Date) async throws -> Int {
        var time = now.addingTimeInterval(-lifetime.seconds)
        do { try pdf.store.users.database.checkSpace() } catch StorageError.diskFull { time = now }
        return try await pdf.store.purgeVersions(upTo: time) { events.publishList($0, of: $1) }
    }

    func catchUp() async throws -> Banner? { try await pdf.store.catchUp() }

    func audience(of profile: String) -> ServerEvent.Audience { .profile(app: PDFApp.name, profile: profile) }

    func changeToken(of profile: String) -> ChangeToken { pdf.store.changeToken(profile: profile) }

    func page(_ request: PageRequest, of profile: String) throws -> (
        page: ListPage<TrashEntry<DocumentStore.Listing.Row>>, revision: Int
    ) {
        try pdf.store.trash(profile: profile, page: request)
    }

    func properties(of document: DocumentStore.Listing.Row) -> Properties {
        Properties(
            id: document.id,
            name: document.name,
            size: document.length,
            sizeText: .size(document.length),
            pageCount: document.pageCount,
            pageCountText: DocumentText.pages(document.pageCount)
        )
    }

    func texts(in zone: TimeZone) -> (text: (Date) -> Text, changeToken: ChangeToken) {
        ({ DocumentText.date($0, in: zone) }, .unlimited)
    }

    func purge(_ id: String, _ preconditions: WritePreconditions, of profile: String) async throws -> Int? {
        try await pdf.store.purge(id, preconditions: preconditions, profile: profile)
    }

    func purge(_ most: Int, upTo time: Date, _ preconditions: WritePreconditions, of profile: String) async throws
        -> (count: Int, revision: Int)
    {
        try await pdf.store.purgeTrash(most, upTo: time, preconditions: preconditions, profile: profile)
    }

    func owner(ofItemsUpTo time: Date) async throws -> String? {
        try await pdf.store.profiles(DocumentStore.selectDue, time).first
    }

    var notFound: Problem { .noDocument }
}

extension Trash {
    static let documents = Trash(
        of: PDFApp.name,
        key: [.integer, .integer],
        hint: .documentTrashHint,
        button: .showAll
    )
}

extension EventStream {
    /// The screen of the saved documents.
    static let list = ["pdf.list"]
    /// The screens that show that a document was moved to the trash or out of it.
    static let listAndTrash = list + [Trash.documents.screen]

    /// Publishes to a profile that its documents have changed; does nothing without a new revision.
    func publishList(_ revision: Int?, of profile: String, _ screens: [String] = list) {
        guard let revision else { return }
        publish(screens, of: PDFApp.name, revision, to: .profile(app: PDFApp.name, profile: profile))
    }
}
