import Screens

/// Where the notes of a server are.
enum NoteStorage: Sendable {
    /// In its own database.
    case local(NoteStore)
    /// In the store that several servers share.
    case shared(SharedNotes)

    /// What the features use.
    var book: any NoteBook {
        switch self {
        case .local(let store): store
        case .shared(let notes): notes
        }
    }

    /// The notes of an account for its archive, and how much they are.
    func userData(quota: StorageQuota) -> UserData {
        let shown = { @Sendable (session: Session, stored: StorageUsage) in
            AppUsage(.notes, of: session.name, stored, quota: quota, trash: "/v1/notes/trash")
        }
        switch self {
        case .local(let store):
            return UserData { owner, archive in
                guard let account = try owner.session?.noteAccount() else { return nil }
                var files = try NoteArchive(of: owner, in: archive)
                try store.forEachNote(of: account) { try files.append($0) }
                return try files.end(in: archive)
            } usage: { owner in
                try owner.session.map { shown($0, try store.usage(account: try $0.noteAccount())) }
            }
        case .shared(let notes):
            return UserData(
                sharedAdd: { owner, archive in
                    guard let account = try owner.session?.noteAccount() else { return nil }
                    var files = try NoteArchive(of: owner, in: archive)
                    try await notes.forEachNote(of: account) { try files.append($0) }
                    return try files.end(in: archive)
                },
                usage: { owner in
                    guard let session = owner.session else { return nil }
                    return shown(session, try await notes.usage(account: try session.noteAccount()))
                }
            )
        }
    }
}
