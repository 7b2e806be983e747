import Foundation
import GRDB
import HTTP
import HTTPTypes
import Media
import Screens
import Storage
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Disk

/// The Disk app over a simulated Disk.
typealias DiskHarness = AppHarness<DiskApp, FakeYandexDisk>

extension SettingValues {
    /// Writes wait for no operation.
    static let disk = standard.with(DiskApp.operationWait, .zero)
}

/// Options of a test of the Disk app.
struct DiskHarnessSettings: Sendable {
    var values = SettingValues.disk
    var budget = CacheBudget.unlimited
    var patience: Duration = .seconds(2)
    var client: YandexOAuthClient.Application?
    var oauth: ScriptedTransport?
    var directory: DataDirectory?
    var media: MediaEngine?
}

extension AppHarness<DiskApp, FakeYandexDisk> {
    typealias Settings = DiskHarnessSettings

    /// Runs a test against the app.
    static func run(
        _ disk: FakeYandexDisk = FakeYandexDisk(),
        clock: ManualClock = ManualClock(),
        _ settings: Settings = Settings(),
        _ test: @Sendable (DiskHarness) async throws -> Void
    ) async throws {
        let patience = settings.patience
        var upstreams = [
            AppUpstream(DiskApp.disk, at: "https://disk.test/v1/disk", disk) {
                $0.patience = patience
                $0.allowedHosts = ["downloader.test", "uploader.test"]
            }
        ]
        if let oauth = settings.oauth {
            upstreams.append(AppUpstream(DiskApp.oauth, at: "https://oauth.test", oauth))
        }
        try await run(
            DiskApp.self,
            fixture: disk,
            upstreams: upstreams,
            AppSurroundings(clock: clock, directory: settings.directory),
            make: { context in
                var context = context
                context.settings = settings.values
                if let client = settings.client {
                    context.settings[DiskApp.oauthClientID] = client.id
                    context.settings[DiskApp.oauthClientSecret] = client.secret?.value ?? ""
                    context.settings[DiskApp.oauthRedirectURI] = client.redirectURI ?? ""
                }
                context.cacheBudget = settings.budget
                if let media = settings.media { context.media = media }
                return try DiskApp(context)
            },
            finish: {
                await $0.app.downloads.stop()
                await $0.app.offline.stop()
                await $0.app.outbox.stop()
            },
            test
        )
    }

    /// Runs a test for a client that has logged in, with its token.
    static func run(
        _ disk: FakeYandexDisk = FakeYandexDisk(),
        clock: ManualClock = ManualClock(),
        _ settings: Settings = Settings(),
        _ test: @Sendable (DiskHarness, FakeYandexDisk, String) async throws -> Void
    ) async throws {
        try await run(disk, clock: clock, settings) { try await test($0, disk, try await $0.logIn()) }
    }

    /// Runs a test that does not touch the Disk itself for a client that has logged in.
    static func run(
        _ disk: FakeYandexDisk = FakeYandexDisk(),
        clock: ManualClock = ManualClock(),
        _ settings: Settings = Settings(),
        _ test: @Sendable (DiskHarness, String) async throws -> Void
    ) async throws {
        try await run(disk, clock: clock, settings) { app, _, token in try await test(app, token) }
    }

    var disk: FakeYandexDisk { fixture }
    var store: DiskStore { app.disk.store }

    func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String?,
        _ fields: HTTPFields = [:],
        bytes: [UInt8]
    ) async throws -> Exchanged {
        try await ask(
            method,
            target,
            as: token,
            fields.merging([.contentType: "application/octet-stream"]),
            body: Data(bytes)
        )
    }

    /// Logs in with a token that the Disk knows, and returns Larder's own.
    func logIn(_ token: String = "good") async throws -> String {
        let login = #"{"mode":"oauth_token","access_token":"\#(token)"}"#
        return try await ask(.post, "/v1/disk/session", json: login).string("data.token")
    }

    /// Returns the names in the list of a response.
    static func names(_ response: Exchanged) -> [String] {
        response.strings("name", in: "data.items")
    }

    /// Returns the bytes of all files in the data directory.
    func everythingStored() throws -> Data {
        try database.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        let files = FileManager.default.enumerator(
            at: URL(filePath: database.directory.path),
            includingPropertiesForKeys: [.isRegularFileKey]
        )
        var all = Data()
        for case let url as URL in files ?? .init()
        where (try? url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true {
            all += try Data(contentsOf: url)
        }
        return all
    }
}

extension String {
    var q: String { FakeYandexDisk.encoded(self) }
}

// Helpers for tests of pending writes.
extension AppHarness<DiskApp, FakeYandexDisk> {
    /// Sends a write that prefers to be left.
    func leave(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String,
        json: String? = nil
    ) async throws -> Exchanged {
        var fields: HTTPFields = [.prefer: "respond-async"]
        if json != nil { fields[.contentType] = "application/json" }
        return try await ask(method, target, as: token, fields, body: json.map { Data($0.utf8) })
    }

    /// Waits until an operation is in a state, and returns its screen of that time: the next one may differ.
    @discardableResult
    func outbox(
        _ href: String,
        is state: String,
        as token: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Exchanged {
        var seen: Exchanged?
        try await BoundedWait.poll(for: "\(href) to be \(state)", sourceLocation: sourceLocation) {
            clock.advance(by: .seconds(2))
            let screen = try await get(href, as: token)
            seen = screen
            return screen["data.state"] == .string(state)
        }
        return try #require(seen)
    }

    /// Waits until nothing waits.
    func drained(sourceLocation: SourceLocation = #_sourceLocation) async {
        await BoundedWait.poll(for: "the outbox to drain", sourceLocation: sourceLocation) {
            clock.advance(by: .seconds(2))
            return store.outbox.accounts.isEmpty
        }
    }
}

// Helpers for tests of offline files.
extension AppHarness<DiskApp, FakeYandexDisk> {
    /// Runs a test after a login and a mark.
    ///
    /// - Parameters:
    ///   - path: The file or folder to be kept offline.
    ///   - state: The state of the mark to wait for; nil to run the test directly after marking.
    ///   - test: Gets the token of the login.
    static func run(
        _ disk: FakeYandexDisk,
        _ settings: Settings = Settings(),
        keeping path: String,
        until state: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ test: @Sendable (DiskHarness, String) async throws -> Void
    ) async throws {
        try await run(disk, settings) { app in
            let token = try await app.logIn()
            try await app.keep(path, as: token)
            if let state { try await app.offline(path, is: state, as: token, sourceLocation: sourceLocation) }
            try await test(app, token)
        }
    }

    /// Marks a file or folder to be kept offline.
    @discardableResult
    func keep(_ path: String, as token: String) async throws -> Exchanged {
        try await ask(.put, "/v1/disk/offline", as: token, json: #"{"path":"\#(path)"}"#)
    }

    /// Returns a row of the screen of offline files.
    func offlineRow(_ path: String, as token: String) async throws -> [String: JSON] {
        let response = try await get("/v1/disk/offline?limit=100", as: token)
        guard case .array(let items) = response["data.items"] else { return [:] }
        for case .object(let item) in items where item["path"] == .string("disk:\(path)") { return item }
        return [:]
    }

    /// Waits until a mark is in a state.
    func offline(
        _ path: String,
        is state: String,
        as token: String,
        advancing step: Duration = .zero,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await BoundedWait.poll(for: "\(path) to be \(state)", sourceLocation: sourceLocation) {
            // In each round: the task that sleeps next may not do so yet.
            if step > .zero { clock.advance(by: step) }
            return try await offlineRow(path, as: token)["state"] == .string(state)
        }
    }
}

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

    /// Returns the stored names of all lists, while the upstream is unreachable.
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
