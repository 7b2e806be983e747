import Database
import Foundation
import Freshness
import Screens

/// The documents of all profiles, with their files.
///
/// They are in the server's own database (``DocumentStore``), or in one that several servers share
/// (``SharedDocuments``). Each operation is one transaction.
protocol Documents: Sendable {
    // MARK: Documents

    /// Returns the token of a profile's documents, which must be taken before they are read. Drafts also expire by
    /// time, so that responses that show one are not cached.
    func changeToken(profile: String) -> ChangeToken

    /// Returns a document of a profile; nil if there is none, or it is an expired draft.
    func document(_ id: String, profile: String, at now: Date) async throws -> Document?

    /// Returns a document of a profile with what the profile stores; nil if there is none, or it is an expired draft.
    func shown(_ id: String, profile: String, at now: Date) async throws -> (document: Document, usage: StorageUsage)?

    /// Returns a function that reads a document as ``document(_:profile:at:)`` does. It is called within the
    /// transaction of the other reads of a response; a shared store is read before.
    func documentReader(_ id: String, profile: String, at now: Date) async throws -> () throws -> Document?

    /// Returns a page of the list with its total and revision.
    ///
    /// - Parameter search: nil for all saved documents.
    func list(profile: String, page: PageRequest, _ search: DocumentSearch?) async throws -> DocumentStore.Listing

    /// Returns the revision of a profile's list.
    func revision(profile: String) async throws -> Int

    func usage(profile: String) async throws -> StorageUsage

    /// Inserts documents, all or none.
    ///
    /// - Parameters:
    ///   - draftUntil: when they expire; nil for saved documents.
    /// - Returns: the documents, and the new revision of the list if that changed.
    /// - Throws: 507 `quota-exceeded`; errors of the database; the files of the documents are removed then.
    func insert(
        _ documents: [DocumentStore.New],
        profile: String,
        created: Date,
        draftUntil: Date?,
        quota: StorageQuota
    ) async throws -> (documents: [Document], revision: Int?)

    /// Replaces the file and the pages of a document, and postpones the end of a draft.
    ///
    /// - Throws: `DocumentStore.Gone` if the document has changed since it was read; 507 `quota-exceeded`; errors of
    ///   the database. The new file is removed then.
    func replace(
        _ document: Document,
        file: StagedFile,
        pages: [DocumentPage],
        profile: String,
        draftUntil: Date,
        quota: StorageQuota
    ) async throws -> DocumentStore.Changed

    /// Saves a draft, renames a document, or both.
    ///
    /// - Parameter file: the file of the document under its new name; nil if the file stays.
    /// - Returns: the document after the change and the new revision of the list if that changed.
    /// - Throws: `DocumentStore.Gone` if the document has changed since it was read; errors of the database. The new
    ///   file is removed then.
    func save(_ document: Document, name: String?, file: StagedFile?, isSaved: Bool, profile: String, at now: Date)
        async throws -> DocumentStore.Changed

    /// Deletes a document. Documents that were made of it stay.
    ///
    /// - Parameters:
    ///   - toTrash: whether a saved document is moved to the trash, not deleted permanently with its file.
    ///   - preconditions: the conditions for its version.
    /// - Returns: the deleted document and the new revision of the list if that changed; nil if there was none.
    /// - Throws: 412 `precondition-failed`.
    func delete(_ id: String, toTrash: Bool, preconditions: WritePreconditions, profile: String, at now: Date)
        async throws -> DocumentStore.Changed?

    /// Returns the newest drafts of a profile that have not expired, and what the profile stores.
    func drafts(profile: String, at now: Date) async throws -> (drafts: [DocumentStore.Draft], usage: StorageUsage)

    /// Removes the expired drafts.
    ///
    /// - Returns: their number.
    func purgeDrafts(at now: Date) async throws -> Int

    // MARK: Files

    /// Adopts a finished file for a document that is inserted or changed next.
    func stage(_ place: TemporaryPath) throws -> StagedFile

    /// Removes a staged file that no document refers to.
    func discard(_ file: StagedFile)

    /// Returns the file of a document, for programs that read it by its path.
    ///
    /// - Throws: `DocumentStore.Gone` if the document has another one by now.
    func file(of document: Document) async throws -> DocumentFile

    /// Opens the file of a document, to be sent. It can be read to its end if the document changes meanwhile.
    ///
    /// - Throws: `StorageError.blobUnavailable` if the document has another one by now.
    func content(of document: Document) async throws -> FileContent

    /// Stores the picture of a page in this server's cache, unless no document has the page any more.
    func save(
        _ thumbnail: ThumbnailStore.Thumbnail,
        of page: DocumentPage,
        width: Int,
        in thumbnails: ThumbnailStore,
        budget: Int,
        at now: Date
    ) async throws

    // MARK: Trash

    /// Returns a page of the trash.
    func trash(profile: String, page: PageRequest) async throws -> TrashPage<DocumentStore.Listing.Row>

    /// Moves a document from the trash back to the list. One that is already listed is not changed.
    ///
    /// - Parameter preconditions: the conditions for its version.
    /// - Returns: the document and the new revision of the list if that changed; nil if the profile has none of that
    ///   id.
    /// - Throws: 412 `precondition-failed`.
    func restore(_ id: String, preconditions: WritePreconditions, profile: String, at now: Date) async throws
        -> DocumentStore.Changed?

    /// Deletes a document in the trash permanently, with its file.
    ///
    /// - Parameter preconditions: the conditions for its version.
    /// - Returns: the new revision of the list; nil if there is none of that id in the trash.
    /// - Throws: 412 `precondition-failed`.
    func purge(_ id: String, preconditions: WritePreconditions, profile: String) async throws -> Int?

    /// Permanently deletes the documents that were moved to the trash up to a time.
    ///
    /// - Parameters:
    ///   - profile: nil for all.
    ///   - preconditions: the conditions for the revision of the profile's list.
    /// - Returns: their number, and the new revision of each profile that had some.
    /// - Throws: 412 `precondition-failed`.
    func purgeTrash(of profile: String?, upTo time: Date, preconditions: WritePreconditions) async throws
        -> (count: Int, revisions: [String: Int])

    // MARK: Profiles

    /// Returns whether the welcome of a profile was seen.
    func isWelcomeSeen(profile: String) async throws -> Bool

    func setWelcomeSeen(_ isSeen: Bool, profile: String) async throws
}
