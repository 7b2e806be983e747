import GRDB
import Testing

@testable import Larder

@Suite struct SnapshotTests {
    @Test("HARN-16 a space of a snapshot has the stored responses of its sandbox, also of links, and changes no others")
    func moved() throws {
        let urls = try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE stored_response (url TEXT UNIQUE)")
            for url in [
                "http://127.0.0.1:9000/spacex/v4/ships", "http://127.0.0.1:9000/yandex_downloader/disk/a%20b_c?x=1",
                // A port that begins with the same figures, a real upstream on this machine, and an earlier sandbox.
                "http://127.0.0.1:90001/spacex/v4/ships", "http://127.0.0.1:8000/spacex/v4/ships",
                "http://127.0.0.1:9001/spacex/v4/ships", "https://disk.example/127.0.0.1:9000/",
            ] { try db.execute(sql: "INSERT INTO stored_response VALUES (?)", arguments: [url]) }
            try Snapshots.moveResponses(db, from: 9000, to: 9001)
            return try String.fetchAll(db, sql: "SELECT url FROM stored_response ORDER BY url")
        }
        #expect(
            urls == [
                "http://127.0.0.1:8000/spacex/v4/ships", "http://127.0.0.1:90001/spacex/v4/ships",
                "http://127.0.0.1:9001/spacex/v4/ships", "http://127.0.0.1:9001/yandex_downloader/disk/a%20b_c?x=1",
                "https://disk.example/127.0.0.1:9000/",
            ]
        )
    }
}
