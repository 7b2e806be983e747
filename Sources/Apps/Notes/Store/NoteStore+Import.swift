import Cluster
import Concurrency
import Foundation
import GRDB
import Screens

extension NoteStore {
    /// The result of an import.
    struct Added: Sendable {
        let count: Int
        /// The account's revision.
        let revision: Int
    }

    /// Inserts the notes of files that an account does not have yet, all or none, in their order.
    ///
    /// The account has a note already if one of its notes has the same text and position. The name of the place and the
    /// time of creation, to the second, must be equal if the file has them.
    ///
    /// - Parameters:
    ///   - preconditions: compared with the version of the account's list.
    ///   - quota: the most bytes that the account may store.
    /// - Throws: ``Problem`` 401 if the account was deleted, 412, 507.
    func add(
        _ drafts: [NoteDraft],
        preconditions: WritePreconditions = .none,
        quota: StorageQuota = .unlimited,
        account: Int64,
        now: Date
    ) async throws -> Added {
        defer { noteChanges[account].bump() }
        return try await users.write(scope: Self.scope(account)) { [users] db in
            try preconditions.check(version: try Self.revision(account, db), of: "The list of notes")
            var missing = MissingDrafts(drafts)
            try Self.forEachNote(of: account, db) { missing.remove($0) }
            try quota.holding({ try Self.usage(account, db) }) {
                for draft in missing.drafts {
                    var location = draft.location
                    if location.name.isEmpty { location.name = draft.address ?? Note.Location.unknown.name }
                    let modified = draft.modified ?? draft.created ?? now
                    _ = try Self.insert(
                        draft.body,
                        at: location,
                        id: try Self.unusedID(users, db),
                        account: account,
                        now: modified,
                        created: draft.created ?? modified,
                        db
                    )
                }
            }
            return Added(count: missing.drafts.count, revision: try Self.revision(account, db))
        }
    }
}

/// The notes of files without those that are there already.
private struct MissingDrafts {
    private struct Key: Hashable {
        let body: String
        let latitude: Double
        let longitude: Double

        init(_ body: String, _ location: Note.Location) {
            self.body = body
            (latitude, longitude) = (location.coordinate.latitude, location.coordinate.longitude)
        }
    }

    private let all: [NoteDraft]
    private var isMissing: [Bool]
    /// The indexes of those that are missing.
    private var places: [Key: [Int]]

    init(_ drafts: [NoteDraft]) {
        all = drafts
        isMissing = drafts.map { _ in true }
        places = Dictionary(grouping: drafts.indices) { Key(drafts[$0].body, drafts[$0].location) }
    }

    var drafts: [NoteDraft] { zip(all, isMissing).filter(\.1).map(\.0) }

    /// Removes one that is the same as a note of the account.
    mutating func remove(_ note: Note) {
        let key = Key(note.body, note.location)
        guard let found = places[key]?.firstIndex(where: { Self.isSame(all[$0], as: note) }),
            let index = places[key]?.remove(at: found)
        else { return }
        isMissing[index] = false
    }

    private static func isSame(_ draft: NoteDraft, as note: Note) -> Bool {
        let second = { (date: Date) in date.timeIntervalSince1970.rounded(.down) }
        return (draft.location.name.isEmpty || draft.location.name == note.location.name)
            && draft.created.map { second($0) == second(note.created) } ?? true
    }
}
