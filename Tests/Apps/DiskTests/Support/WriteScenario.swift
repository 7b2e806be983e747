import HTTPTypes
import TestKit
import Testing

@testable import Disk

/// The Disk that tests of writes begin with, and the screens that they compare.
enum WriteScenario {
    private static let screens = ["recent", "files", "published", "search?q=a"]

    /// A Disk with a published file, and a folder with a file.
    static func disk() -> FakeYandexDisk {
        let disk = FakeYandexDisk()
        disk.put("disk:/a.txt", "text of a")
        disk.makeFolder("disk:/folder")
        disk.put("disk:/folder/a inner.txt", "inner")
        disk.change { $0.nodes["disk:/a.txt"]?.publicURL = "https://yadi.sk/d/a" }
        return disk
    }

    /// Runs a test against the app on that Disk, for a client that has requested all lists.
    static func run(_ test: @Sendable (DiskHarness, FakeYandexDisk, String) async throws -> Void) async throws {
        try await DiskHarness.run(disk()) { app, disk, token in
            try await seen(app, token)
            try await test(app, disk, token)
        }
    }

    /// Returns the names of all lists as they are stored, without the upstream.
    static func stored(_ app: DiskHarness, _ token: String) async throws -> [String: [String]] {
        app.disk.goAway()
        var names: [String: [String]] = [:]
        for screen in screens {
            names[screen] = DiskHarness.names(
                try await app.get("/v1/disk/\(screen)", as: token, [.cacheControl: "no-cache"])
            )
        }
        return names
    }

    /// Requests all lists once.
    static func seen(_ app: DiskHarness, _ token: String) async throws {
        for screen in screens + ["files?path=/folder"] {
            #expect(try await app.get("/v1/disk/\(screen)", as: token).status == 200)
        }
    }

    /// Logs in, looks at all screens, and makes the Disk unreachable, which the server has found out.
    ///
    /// - Returns: The token.
    static func away(_ app: DiskHarness) async throws -> String {
        let token = try await app.logIn()
        try await seen(app, token)
        app.disk.goAway()
        _ = try await app.get("/v1/disk/files?refresh=1", as: token)
        return token
    }
}
