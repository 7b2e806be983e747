import Screens
import SharedStore

extension SharedNotes {
    /// The most notes that are in memory at a time.
    private static let batch = 64

    /// Calls a function with each note that an account has now, as it is when it is read; the last saved last.
    func forEachNote(of account: Int64, _ body: (Note) throws -> Void) async throws {
        let select = "SELECT id FROM note WHERE account = $1 ORDER BY revision"
        let ids = try await database.rows(select, [account]) { try $0.value("id") as Int }
        for start in stride(from: 0, to: ids.count, by: Self.batch) {
            let part = Array(ids[start..<min(start + Self.batch, ids.count)])
            let select = "SELECT * FROM note WHERE account = $1 AND id = ANY($2) ORDER BY revision"
            let notes = try await database.rows(select, [account, part]) { try Note($0) }
            for note in notes.compactMap(\.self) { try body(note) }
        }
    }

    /// Returns what an account stores.
    func usage(account: Int64) async throws -> StorageUsage {
        try await database.read { try Self.usage(account, $0) }
    }
}
