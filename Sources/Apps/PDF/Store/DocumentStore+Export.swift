import Database
import GRDB

extension DocumentStore {
    /// Returns the saved documents of a profile without their pages, newest first, with the numbers of their pages.
    func savedDocuments(profile: String) throws -> [(document: Document, pageCount: Int)] {
        try database.read { db in
            let arguments: StatementArguments = ["profile": profile, "limit": -1, "offset": 0]
            return try Row.fetchAll(try db.cachedStatement(sql: Self.selectList), arguments: arguments).map {
                try (Document(row: $0, pages: []), $0.size("page_count"))
            }
        }
    }
}
