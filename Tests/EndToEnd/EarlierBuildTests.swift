import Foundation
import TestKit
import Testing

/// Data directories that earlier builds have made and a `kill -9` has left, in `EarlierBuilds`: `COMMIT.tar.gz`.
/// `journal.tar.gz` was made by `pg_dump --inserts` after the end of two servers of a build of 29 November without
/// the migration `notes/013 words`.
@Suite(.timeLimit(.minutes(4))) struct EarlierBuildTests {
    /// Tokens of sessions that the build of commit 7afb36e7 has opened, at the simulated upstreams.
    private let notes = "TxLh9-7VGzYeiaXFmEqopSbofCs5sM-osY8hHPYFVyk"
    private let ships = "EqLbaiti_Vs7n5BYZq6s07qI5orwU3wmEi-vdE-wTTo"
    private let disk = "1tvDk4y2AB0vKElQoQLA5TEvd0Ffbs2ZhDtwQ5ufjV4"

    private func unpack(_ name: String) async throws -> TemporaryFolder {
        let data = try TemporaryFolder()
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "EarlierBuilds")
        let archive = folder.appending(path: "\(name).tar.gz")
        try await RunningProcess.output(of: "tar", ["-xzf", archive.path, "-C", data.path])
        return data
    }

    private func texts(_ client: Client, _ path: String, _ member: String) async throws -> [String?] {
        let response = try await client.get(path)
        #expect(response.status == 200, "\(path): \(response.text)")
        return try response.json.data.items.elements.map { $0[dynamicMember: member].string }
    }

    @Test("HOUSE-04 A data directory of commit 7afb36e7, killed and with a log, opens without loss, for every app")
    func opened() async throws {
        let data = try await unpack("7afb36e7")
        let settings = ["--sandbox", "--clock-start", "2026-11-29T04:00:00Z"]
        let larder = try await RunningLarder.start(data: data, settings)
        var (writer, sailor, owner) = (larder.client, larder.client, larder.client)
        (writer.token, sailor.token, owner.token) = (notes, ships, disk)

        let lines = ["changed note", "Plain 8", "Note 7: Молоко и хлеб №7", "Plain 6", "Note 5: Молоко и хлеб №5"]
        let others = ["Plain 2", "Note 1: Молоко и хлеб №1", "Plain 0"]
        #expect(try await texts(writer, "/v1/notes", "first_line") == lines + others)
        #expect(try await texts(writer, "/v1/notes?q=5", "first_line") == ["Note 5: Молоко и хлеб №5"])
        #expect(try await texts(writer, "/v1/notes/trash", "first_line") == ["Note 3: Молоко и хлеб №3"])
        let map = try await writer.get("/v1/notes/map?bbox=37,55,38,56&zoom=10")
        let (pins, clusters) = try (map.json.data.pins.elements, map.json.data.clusters.elements)
        #expect(pins.count + clusters.compactMap(\.count.int).reduce(0, +) == 3, "\(map.text)")

        let listed = try await texts(sailor, "/v1/ships?limit=100", "name")
        #expect(listed.count == 29 && !listed.contains("Arctic Marigold"))
        let shopping = try await texts(larder.client, "/v1/shop/list", "title")
        let history = try await texts(larder.client, "/v1/shop/history", "text")
        #expect(shopping.count == 3 && history.count == 1)

        #expect(try await texts(larder.client, "/v1/pdf/trash", "name") == ["Doc 2"])
        let documents = try await larder.client.get("/v1/pdf/documents").json.data.items.elements
        #expect(documents.map(\.name.string) == ["Doc 1", "Doc 0"])
        for document in documents {
            let file = try await larder.client.get("\(document.href.string ?? "")/file").body
            #expect(file.starts(with: Data("%PDF".utf8)) && file.suffix(8).contains(Data("%%EOF".utf8)))
        }

        #expect(try await texts(owner, "/v1/disk/offline", "name") == ["Прочти меня.txt"])
        // The write that waits there is sent, and the folder is on the Disk.
        await BoundedWait.poll(for: "the end of the outbox") {
            (try? await owner.get("/v1/disk/outbox").json.data.items.elements.count) == 0
        }
        let files = try await texts(owner, "/v1/disk/files?limit=100", "name")
        #expect(files.contains("Queued"))
        #expect(await larder.stop() == 0)

        let doctor = RunningProcess(["doctor", "--data-directory", data.path])
        await doctor.ended()
        let database = doctor.output.split(separator: "\n").first { $0.hasPrefix("database ") }
        #expect(database?.contains(" ok ") == true, "\(doctor.output)")
    }

    /// Runs statements of psql, which may be many.
    private func psql(_ arguments: [String], _ url: String) async throws {
        try await RunningProcess.output(of: "psql", ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url] + arguments)
    }

    private func serve(_ url: String, _ key: String, _ settings: [String] = []) async throws -> RunningLarder {
        let own = ["--sandbox", "--store-url", url, "--store-key-file", key, "--store-connections", "4"]
        return try await RunningLarder.start(
            own + ["--store-timeout-ms", "20000", "--clock-start", "2026-11-29T10:00:00Z"] + settings
        )
    }

    @Test("HOUSE-04 The journal of two killed servers of an earlier build opens without loss, for every app")
    func journal() async throws {
        let (url, dump) = (try await RunningPostgres.shared.value.database(), try await unpack("journal"))
        // Transactions have numbers behind those of its rows, as in the PostgreSQL that has given them.
        let numbers = "DO $$ BEGIN FOR i IN 1..800 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$"
        try await psql(["-c", numbers], url)
        try await psql(["-f", dump.path + "/journal.sql"], url)
        let keys = try TemporaryFolder()
        let key = try keys.writePrivately("store.key", Data(repeating: 7, count: 32))
        let larder = try await serve(url, key)
        var (writer, sailor, owner) = (larder.client, larder.client, larder.client)
        writer.token = "ku4vcoQHjncEvwqg1D8vSsJK-40WYeriUfhUE4pvUU4"
        sailor.token = "CJjvNpp6Flw-B9aU3cpwRXzeUyUGiKuFpQJz_wdfQfY"
        owner.token = "wIyYtABog0OJ916on-ES_TNqRU8AvXOiW6Fbnz3KlZI"

        let notes = ["with a key", "plain", "Привет №7", "Straße 12.50"]
        #expect(try await texts(writer, "/v1/notes", "first_line") == notes)
        #expect(try await texts(writer, "/v1/notes?q=strasse", "first_line") == ["Straße 12.50"])
        #expect(try await texts(writer, "/v1/notes/trash", "first_line") == ["Papierkorb"])
        let repeated = ["Idempotency-Key": "\"one\""]
        let again = try await writer.send("POST", "/v1/notes", repeated, body: #"{"body": "with a key"}"#)
        #expect(again.status == 201 && again["Idempotency-Replayed"] == "true", "\(again.text)")
        let ships = try await texts(sailor, "/v1/ships?limit=100", "name")
        #expect(ships.count == 29 && !ships.contains("A Gentle Landing, Mostly"))
        #expect(try await texts(larder.client, "/v1/shop/list", "title").count == 2)
        #expect(try await texts(larder.client, "/v1/shop/history", "text").count == 1)
        #expect(try await texts(larder.client, "/v1/pdf/documents", "name") == ["Paß один"])
        let file = try await larder.client.get("/v1/pdf/documents/b642971440935f51/file").body
        #expect(file.starts(with: Data("%PDF".utf8)) && file.suffix(8).contains(Data("%%EOF".utf8)))
        #expect(try await texts(owner, "/v1/disk/offline", "name") == ["Прочти меня.txt"])
        await BoundedWait.poll(for: "the write that waits to be sent") {
            (try? await owner.get("/v1/disk/outbox").json.data.items.elements.count) == 0
        }
        #expect(try await texts(owner, "/v1/disk/files?limit=100", "name").contains("Queued"))

        #expect(try await writer.post("/v1/notes", #"{"body":"of this build"}"#).status == 201)
        let other = try await serve(url, key)
        #expect(try await texts(writer.moved(to: other), "/v1/notes", "first_line") == ["of this build"] + notes)
        for larder in [larder, other] { #expect(await larder.stop() == 0) }
    }

    @Test("HOUSE-04 A PostgreSQL of commit 7afb36e7 is refused by name; its data directory is copied to a new one")
    func beforeTheJournal() async throws {
        let postgres = try await RunningPostgres.shared.value
        let (old, url) = (try postgres.database(), try postgres.database())
        let steps = ["disk/001 logins", "notes/001 notes", "sessions/001 session"]
        let table = "CREATE TABLE larder_migration (name text PRIMARY KEY, applied_at timestamptz DEFAULT now())"
        let rows = steps.map { "('\($0)')" }.joined(separator: ", ")
        try await psql(["-c", table, "-c", "INSERT INTO larder_migration (name) VALUES \(rows)"], old)
        for command in [["serve", "--http-port", "0"], ["doctor"]] {
            let folder = try TemporaryFolder()
            let settings = ["--node-apps", "notes", "--data-directory", folder.path, "--store-url", old]
            let refused = RunningProcess(command + settings)
            #expect(await refused.ended() == 1)
            let said = refused.log + refused.output
            for text in ["docs/scale.md", "Upgrade and restart"] + steps { #expect(said.contains(text), "\(said)") }
        }

        let (data, keys) = (try await unpack("7afb36e7"), try TemporaryFolder())
        let key = try keys.writePrivately("store.key", Data(repeating: 7, count: 32))
        let route = ["--from", data.path, "--to", url, "--store-key-file", key]
        let copy = RunningProcess(["store", "copy"] + route)
        #expect(await copy.ended() == 0, "\(copy.log)")
        let larder = try await serve(url, key)
        var (writer, owner) = (larder.client, larder.client)
        (writer.token, owner.token) = (notes, disk)
        #expect(try await texts(writer, "/v1/notes", "first_line").count == 8)
        #expect(try await texts(larder.client, "/v1/pdf/documents", "name") == ["Doc 1", "Doc 0"])
        #expect(try await texts(owner, "/v1/disk/offline", "name") == ["Прочти меня.txt"])
        #expect(await larder.stop() == 0)
    }
}
