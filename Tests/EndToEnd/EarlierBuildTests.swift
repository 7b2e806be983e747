import Foundation
import Subprocess
import TestKit
import Testing

/// Data directories that earlier builds have made and a `kill -9` has left, in `EarlierBuilds`: `COMMIT.tar.gz`.
@Suite(.timeLimit(.minutes(4))) struct EarlierBuildTests {
    /// Tokens of sessions that the build of commit 7afb36e7 has opened, at the simulated upstreams.
    private let notes = "TxLh9-7VGzYeiaXFmEqopSbofCs5sM-osY8hHPYFVyk"
    private let ships = "EqLbaiti_Vs7n5BYZq6s07qI5orwU3wmEi-vdE-wTTo"
    private let disk = "1tvDk4y2AB0vKElQoQLA5TEvd0Ffbs2ZhDtwQ5ufjV4"

    private func unpack(_ name: String) async throws -> TemporaryFolder {
        let data = try TemporaryFolder()
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "EarlierBuilds")
        let archive = folder.appending(path: "\(name).tar.gz")
        let result = try await Subprocess.run(
            .name("tar"),
            arguments: ["-xzf", archive.path, "-C", data.path],
            output: .discarded,
            error: .string(limit: 1 << 16)
        )
        try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
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
}
