import Database

extension NoteStore {
    /// Calls a function with each note of an account, the last saved last. Only one is in memory at a time.
    func forEachNote(of account: Int64, _ body: (Note) throws -> Void) throws {
        try database.read { try Self.forEachNote(of: account, $0, body) }
    }
}
