import AppTestKit
import Database
import Foundation
import GRDB
import HTTPTypes
import Logging
import Media
import Proxy
import ResponseStore
import Screens
import Synchronization
import TestKit
import Testing
import Upstream

@testable import Disk

/// Runs the real routes of the app with a simulated Disk, a temporary database and a clock that a test moves.
struct DiskHarness: Sendable {
    let clock: ManualWallClock
    let disk: FakeYandexDisk
    let events: EventStream
    let database: LarderDatabase
    let upstream: Upstream
    let app: DiskApp
    let sessions: SessionStore
    let log: LogLines
    private let routed: RoutedApp

    struct Settings: Sendable {
        var operationWait: Duration = .zero
        var downloads = 4
        var budget = CacheBudget.unlimited
        var patience: Duration = .seconds(2)
        var client: YandexOAuthClient.Application?
        var oauth: ScriptedUpstream?
        var directory: DataDirectory?
        var media: MediaEngine?
    }

    static func run(
        _ disk: FakeYandexDisk = FakeYandexDisk(),
        clock: ManualWallClock = ManualWallClock(),
        _ settings: Settings = Settings(),
        _ test: @Sendable (DiskHarness) async throws -> Void
    ) async throws {
        let log = LogLines()
        let logger = Logger(label: "test") { _ in LogLines.Handler(lines: log) }
        let database = try LarderDatabase.withCacheTables(
            in: try settings.directory ?? .temporary(),
            migrations: SessionStore.migrations + DiskStore.migrations,
            logger: logger
        )
        let events = EventStream(run: "test", clock: clock.wallClock)
        let upstream = try upstream(
            "yandex_disk",
            "https://disk.test/v1/disk",
            disk,
            database,
            clock,
            logger,
            patience: settings.patience
        )
        upstream.onChange { change in
            switch change {
            case .wentDown(let at): events.publish(.connectivity(upstream: "yandex_disk", reachable: false, at: at))
            case .cameBack(let at): events.publish(.connectivity(upstream: "yandex_disk", reachable: true, at: at))
            }
        }
        let oauth = try oauthUpstream(settings.oauth, database, clock, logger)
        let secrets = try SealedSecrets(database)
        let sessions = SessionStore(database)
        let app = try DiskApp(
            upstream: upstream,
            freshness: .seconds(5),
            oauth: oauth.flatMap { oauth in settings.client.map { (oauth, $0) } },
            database: database,
            sessions: sessions,
            events: events,
            options: .init(
                operationWait: settings.operationWait,
                downloads: settings.downloads,
                budget: settings.budget
            ),
            media: settings.media,
            scratch: try ScratchFolder("uploads", in: database.directory),
            clock: clock.wallClock,
            logger: logger
        )
        var table = RouteTable(app.routes)
        table.add(
            MountRoutes(
                mounts: [Mount(upstream, hasher: try secrets.credentialHasher())],
                sessions: sessions,
                credentials: app.mountCredentials
            ).routes
        )
        try await RoutedApp.run(table, sessions: sessions) { routed in
            try await test(
                DiskHarness(
                    clock: clock,
                    disk: disk,
                    events: events,
                    database: database,
                    upstream: upstream,
                    app: app,
                    sessions: sessions,
                    log: log,
                    routed: routed
                )
            )
        }
        await app.composition.queue.stop()
        upstream.stop()
        oauth?.stop()
        try database.close()
    }

    private static func oauthUpstream(
        _ transport: ScriptedUpstream?,
        _ database: LarderDatabase,
        _ clock: ManualWallClock,
        _ logger: Logger
    ) throws -> Upstream? {
        try transport.map {
            try upstream("yandex_oauth", "https://oauth.test", $0, database, clock, logger, patience: .seconds(2))
        }
    }

    private static func upstream(
        _ name: String,
        _ url: String,
        _ transport: any Transport,
        _ database: LarderDatabase,
        _ clock: ManualWallClock,
        _ logger: Logger,
        patience: Duration
    ) throws -> Upstream {
        Upstream(
            configuration: UpstreamConfiguration(
                name: name,
                title: name == "yandex_disk" ? "Yandex Disk" : "Yandex OAuth",
                baseURL: try #require(URL(string: url)),
                patience: patience,
                allowedHosts: ["downloader.test", "uploader.test"],
                hasSessions: name == "yandex_disk",
                mount: MountOptions(shared: false, maximumStoredBytes: 0)
            ),
            transport: transport,
            database: database,
            clock: clock.wallClock,
            jitter: { 0.5 },
            retries: RetryPolicy(attempts: 1),
            logger: logger
        )
    }

    var composition: DiskComposition { app.composition }
    var store: DiskStore { composition.store }

    func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String? = nil,
        _ fields: HTTPFields = [:],
        json: String? = nil
    ) async throws -> Exchanged {
        try await routed.ask(method, target, as: token, fields, body: json.map { Data($0.utf8) })
    }

    func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String?,
        _ fields: HTTPFields = [:],
        bytes: [UInt8]
    ) async throws -> Exchanged {
        try await routed.ask(
            method,
            target,
            as: token,
            fields.merging([.contentType: "application/octet-stream"]),
            body: Data(bytes)
        )
    }

    func get(_ target: String, as token: String? = nil, _ fields: HTTPFields = [:]) async throws -> Exchanged {
        try await routed.get(target, as: token, fields)
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

/// Records log lines.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.lines.withLock { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }
}

/// Returns a string of a response; the test fails if it is something else.
func text(_ value: JSONFields.Value?, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    guard case .string(let text) = value else {
        Issue.record("no text: \(String(describing: value))", sourceLocation: sourceLocation)
        throw NoText()
    }
    return text
}

struct NoText: Error {}
