import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Disk

@Suite("The time of content on the screens of the Disk")
struct ContentTimeTests {
    private static let screens = [
        "recent", "files", "files?path=/folder", "files?sort=-name&limit=2&offset=1", "published", "trash", "profile",
        "file?path=/a.txt", "file?path=/folder", "search?q=a", "search?q=folder",
    ]
    private static let paths = ["disk:/a.txt", "disk:/b.txt", "disk:/folder/a inner.txt", "disk:/folder/c.txt"]

    /// Changes the Disk as another client does.
    private static func change(_ disk: FakeYandexDisk, _ random: inout SeededRandom, _ step: Int) {
        let path = paths.randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: disk.put(path, "text \(step)")
        case 2: disk.change { $0.nodes[path] = nil }
        case 3: disk.change { $0.used += 1000 }
        case 4: disk.change { $0.nodes[path]?.publicURL = step % 2 == 0 ? "https://yadi.sk/d/\(step)" : nil }
        default:
            disk.change {
                guard var node = $0.nodes.removeValue(forKey: path) else { return }
                node.origin = path
                $0.nodes["trash:/thing_0123456789012345678901234567890123456789"] = node
            }
        }
    }

    /// Changes the Disk through Larder.
    private static func write(_ app: DiskHarness, _ token: String, _ random: inout SeededRandom) async throws {
        let path = String((paths.randomElement(using: &random) ?? "").dropFirst("disk:".count)).q
        switch Int.random(in: 0..<3, using: &random) {
        case 0: _ = try await app.ask(.delete, "/v1/disk/file?path=\(path)", as: token)
        case 1: _ = try await app.ask(.delete, "/v1/disk/published?path=\(path)", as: token)
        default:
            let name = ["renamed.txt", "a.txt"].randomElement(using: &random) ?? ""
            _ = try await app.ask(.patch, "/v1/disk/file?path=\(path)", as: token, json: #"{"name":"\#(name)"}"#)
        }
    }

    @Test(
        "ONE-02 fetched_at moves whenever the content did, whoever changed it and whichever screen was told",
        arguments: 0..<12
    )
    func moves(seed: Int) async throws {
        let disk = WriteScenario.disk()
        try await DiskHarness.run(disk) { app in
            var random = SeededRandom(seed: UInt64(seed))
            var seen = SeenContent()
            let token = try await app.logIn()
            for step in 0..<120 {
                app.clock.advance(by: .seconds(Int.random(in: 1...4, using: &random)))
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4: Self.change(disk, &random, step)
                case 4: try await Self.write(app, token, &random)
                case 5: disk.goAway()
                default: disk.intercept(nil)
                }
                let screen = Self.screens.randomElement(using: &random) ?? ""
                let refresh = Bool.random(using: &random) ? "" : screen.contains("?") ? "&refresh=1" : "?refresh=1"
                seen.check(try await app.get("/v1/disk/\(screen)\(refresh)", as: token), of: screen)
            }
            #expect(seen.changes > 10)
        }
    }

    @Test("ONE-02 content that stays the same keeps its time and its tag, however often it is requested")
    func stays() async throws {
        try await DiskHarness.run(WriteScenario.disk()) { app, token in
            for screen in Self.screens { _ = try await app.get("/v1/disk/\(screen)", as: token) }
            app.clock.advance(by: .seconds(60))
            for screen in Self.screens {
                let refresh = screen.contains("?") ? "&refresh=1" : "?refresh=1"
                let first = try await app.get("/v1/disk/\(screen)\(refresh)", as: token)
                app.clock.advance(by: .seconds(60))
                let second = try await app.get("/v1/disk/\(screen)\(refresh)", as: token)
                #expect(first["meta.fetched_at"] == "2026-01-05T10:00:00Z", "\(screen)")
                #expect(second["meta.fetched_at"] == first["meta.fetched_at"], "\(screen)")
                #expect(second.headerFields[.eTag] == first.headerFields[.eTag], "\(screen)")
            }
        }
    }
}
