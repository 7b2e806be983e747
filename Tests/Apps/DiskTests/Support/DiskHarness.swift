import Foundation
import GRDB
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
            AppSurroundings(
                clock: clock,
                directory: settings.directory
            ),
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
        let response = try await ask(
            .post,
            "/v1/disk/session",
            json: #"{"mode":"oauth_token","access_token":"\#(token)"}"#
        )
        guard case .string(let bearer) = response["data.token"] else {
            Issue.record("no session: \(response.text)")
            return ""
        }
        return bearer
    }

    /// Returns the names in the list of a response.
    static func names(_ response: Exchanged) -> [String] {
        response.all("name", in: "data.items").compactMap { if case .string(let text) = $0 { text } else { nil } }
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

extension HTTPFields {
    func merging(_ other: HTTPFields) -> HTTPFields { HTTPFields(Array(self) + Array(other)) }
}

extension String {
    var q: String { FakeYandexDisk.encoded(self) }
}

/// Returns a string of a response; the test fails if it is something else.
func text(_ value: JSON?, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    guard case .string(let text) = value else {
        Issue.record("no text: \(String(describing: value))", sourceLocation: sourceLocation)
        throw NoText()
    }
    return text
}

struct NoText: Error {}
