import Foundation
import Freshness
import Screens
import TextSearch
import Upstream

/// What users have made in the Notes app: accounts, their notes with places, and the people that all see.
///
/// It is in the server's own database (``NoteStore``), or in one that several servers share (``SharedNotes``). Each
/// operation is one transaction.
protocol NoteBook: Sendable {
    // MARK: Accounts

    /// Returns the account of a name; nil if there is none.
    func account(_ name: UserName) async throws -> NoteAccount?

    /// Returns an account; nil if there is none of that id.
    func account(_ id: Int64) async throws -> NoteAccount?

    /// Returns whether an account has a name that is equal to this one.
    func isTaken(_ name: UserName) async throws -> Bool

    /// Inserts an account.
    ///
    /// - Returns: nil if the name is taken.
    func register(_ name: UserName, _ password: PasswordHash, now: Date) async throws -> NoteAccount?

    /// Opens a session of an account, and returns its token.
    ///
    /// - Throws: `NoteStore.AccountChanged` if the account was deleted or has another password by now.
    func open(_ session: Session, of account: NoteAccount, for carrier: SessionCarrier, in sessions: SessionStore)
        async throws -> String

    /// Replaces the hash of a password by another one of the same password, unless the password was changed meanwhile.
    ///
    /// - Returns: whether it was replaced.
    func rehash(_ old: PasswordHash, by new: PasswordHash, of account: Int64) async throws -> Bool

    /// Replaces a password and ends the sessions of the account, unless the password was changed meanwhile.
    ///
    /// - Parameter credentials: those of the session that stays; nil for none.
    /// - Returns: whether it was replaced.
    func replace(
        _ old: PasswordHash,
        by new: PasswordHash,
        of account: Int64,
        in sessions: SessionStore,
        except credentials: SessionCredentials?
    ) async throws -> Bool

    /// Deletes an account with its notes and its sessions.
    ///
    /// - Throws: `NoteStore.AccountChanged` if its password was changed meanwhile.
    func delete(_ account: NoteAccount, in sessions: SessionStore) async throws

    /// Returns what limits the attempts to log in.
    func loginLimits(_ limits: LoginAttempts.Limits) -> any LoginLimits

    // MARK: Notes

    /// Returns how long what an account sees of its notes stays as it is; to be taken before that is read.
    func changeToken(account: Int64) -> ChangeToken

    /// Returns a note of an account; nil if it has none of that id.
    func note(_ id: Int64, account: Int64) async throws -> Note?

    /// Returns a page of an account's notes, the last saved first; with a search those that match it.
    func list(account: Int64, page: PageRequest, search: WordQuery?) async throws -> NotePage

    /// Returns the notes within a part of the map: each as a pin if they are few and the request names no zoom of
    /// clusters, else by the grid of ``MapGrid``.
    func map(_ view: MapView, zoom wanted: Int?, account: Int64) async throws -> NoteMap

    /// Returns what reads the names of places that match a search, each once, with its last position; the last saved
    /// first. It is called within the transaction that reads what else is shown; a shared store is read before.
    func placesReader(_ search: WordQuery, account: Int64, limit: Int) async throws -> () throws -> [Note.Location]

    /// Inserts a note.
    ///
    /// - Throws: `NoteStore.AccountChanged` if the account was deleted; 412 `precondition-failed`; 507
    ///   `quota-exceeded`.
    func add(
        _ body: String,
        at location: Note.Location,
        preconditions: WritePreconditions,
        quota: StorageQuota,
        account: Int64,
        now: Date
    ) async throws -> Note

    /// Changes a note; what is nil stays. Its time of modification changes in any case.
    ///
    /// - Returns: the note; nil if the account has none of that id.
    /// - Throws: 412 `precondition-failed`; 507 `quota-exceeded`.
    func change(
        _ id: Int64,
        body: String?,
        location: Note.Location?,
        preconditions: WritePreconditions,
        quota: StorageQuota,
        account: Int64,
        now: Date
    ) async throws -> Note?

    /// Deletes a note with its place.
    ///
    /// - Parameter now: when it is moved to the trash; nil to delete it permanently.
    /// - Returns: whether the account had a note of that id.
    /// - Throws: 412 `precondition-failed`.
    func delete(_ id: Int64, toTrashAt now: Date?, preconditions: WritePreconditions, account: Int64) async throws
        -> Bool

    /// Returns the number of the last change of an account's notes.
    func revision(account: Int64) async throws -> Int

    // MARK: Trash

    /// Returns a page of the trash, the last deleted first.
    func trash(account: Int64, page: PageRequest) async throws -> TrashPage<NoteOutline>

    /// Moves a note from the trash back to the list. A note that is already listed stays as it is.
    ///
    /// - Returns: the note and the account's revision; nil if the account has none of that id.
    /// - Throws: 412 `precondition-failed`.
    func restore(_ id: Int64, preconditions: WritePreconditions, account: Int64) async throws
        -> (note: Note, revision: Int)?

    /// Deletes a note in the trash permanently.
    ///
    /// - Returns: the account's revision; nil if there is none of that id in its trash.
    /// - Throws: 412 `precondition-failed`.
    func purge(_ id: Int64, preconditions: WritePreconditions, account: Int64) async throws -> Int?

    /// Empties the trash permanently. Notes that are moved to it in the meantime stay.
    ///
    /// - Returns: how many notes that were, and the account's revision.
    /// - Throws: 412 `precondition-failed`; `NoteStore.AccountChanged`.
    func emptyTrash(preconditions: WritePreconditions, account: Int64) async throws -> (count: Int, revision: Int)

    /// Permanently deletes what was moved to the trash before a time.
    ///
    /// - Returns: how many notes that were, and the new revision of each account that had some.
    func purgeTrash(deletedBefore time: Date) async throws -> (count: Int, revisions: [Int64: Int])

    // MARK: People

    /// How long the people stay as they are; to be taken before they are read.
    var peopleToken: ChangeToken { get }

    /// Whether the pictures of people stay stored as long as the people do.
    var keepsPictures: Bool { get }

    /// Returns a page of the people by first name, and their number.
    ///
    /// - Parameter search: words that the words of a name must begin with; nil for all people.
    func people(_ page: PageRequest, search: NameSearch?) async throws -> PeoplePage

    /// Returns the snapshot of the stored people; nil if none were ever fetched.
    func snapshot() async throws -> PeopleSnapshot?

    /// Returns what reads a person, nil if there is none of that id, and the snapshot. It is called within the
    /// transaction that reads what else is shown; a shared store is read before.
    func personReader(_ id: Int64?) async throws -> () throws -> (person: Person?, snapshot: PeopleSnapshot?)

    /// Fetches people, and replaces those of a snapshot by them.
    ///
    /// - Parameters:
    ///   - snapshot: the one that is replaced; nil if there is none.
    ///   - changed: called with the number of the new snapshot.
    func fetchPeople(
        _ client: PeopleClient,
        _ cachePolicy: CachePolicy,
        replacing snapshot: PeopleSnapshot?,
        now: Date,
        changed: @escaping @Sendable (_ snapshot: Int) -> Void
    ) async throws -> ReadResult
}
