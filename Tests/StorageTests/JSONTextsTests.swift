import GRDB
import Storage
import TestKit
import Testing

@Suite struct JSONTextsTests {
    @Test(
        "SQLite reads back the texts of which a JSON array was made",
        arguments: [
            [], [""], ["disk:/a b", "ж\u{1F600}"], ["\"quoted\"", "back\\slash", "\u{1}\n\t\u{1F}"],
        ]
    )
    func isReadBack(texts: [String]) throws {
        let database = try LarderDatabase.temporary()
        let read = try database.read { db in
            try String.fetchAll(db, sql: "SELECT value FROM json_each(?) ORDER BY key", arguments: [texts.jsonArray])
        }
        #expect(read == texts)
    }
}
