import Foundation
import GRDB
import HTTPTypes
import Logging
import Media
import Storage
import Synchronization
import TestKit
import Upstream

@testable import Cluster
@testable import Screens
@testable import Ships

extension SettingValues {
    /// Logins take no time.
    static let ships = standard.with(ShipsApp.loginDelay, .zero)
}

/// The Ships app over a scripted API.
typealias ShipsHarness = AppHarness<ShipsApp, ScriptedSpaceX>

extension AppHarness<ShipsApp, ScriptedSpaceX> {
    /// Runs a test against the app. The bundled snapshot has three ships unless another one is given.
    static func run(
        _ spaceX: ScriptedSpaceX = ScriptedSpaceX(),
        clock: ManualClock = ManualClock(),
        directory: DataDirectory? = nil,
        snapshot: ShipSnapshot? = nil,
        settings: SettingValues = .ships,
        tools: MediaTools = MediaTools(paths: [:]),
        shared: ClusterAccess? = nil,
        _ test: @Sendable (ShipsHarness) async throws -> Void
    ) async throws {
        let upstream = AppUpstream(ShipsApp.spacex, at: "https://api.test", spaceX.upstream) {
            $0.allowedHosts = ["pictures.test"]
        }
        try await run(
            ShipsApp.self,
            fixture: spaceX,
            upstreams: [upstream],
            AppSurroundings(clock: clock, directory: directory, tools: tools, shared: shared),
            make: { context in
                var context = context
                context.settings = settings
                return try ShipsApp(context, snapshot: snapshot ?? ShipFixtures.snapshot(ShipFixtures.bundled))
            },
            test
        )
    }

    /// Runs a test for a client that has logged in, with its token.
    static func run(
        _ spaceX: ScriptedSpaceX = ScriptedSpaceX(),
        snapshot: ShipSnapshot? = nil,
        settings: SettingValues = .ships,
        _ test: @Sendable (ShipsHarness, String) async throws -> Void
    ) async throws {
        try await run(spaceX, snapshot: snapshot, settings: settings) { try await test($0, try await $0.logIn()) }
    }

    var spaceX: ScriptedSpaceX { fixture }
    var store: ShipStore { ShipStore(database) }

    func ask(
        _ method: HTTPRequest.Method,
        _ target: String,
        as token: String? = nil,
        _ headerFields: HTTPFields = [:],
        body: String
    ) async throws -> Exchanged {
        try await ask(method, target, as: token, headerFields, json: body)
    }

    /// Logs in and returns the token.
    func logIn(_ username: String = "example@domain.com") async throws -> String {
        let login = #"{"mode":"login","username":"\#(username)","password":"secret"}"#
        return try await ask(.post, "/v1/ships/session", json: login).string("data.token")
    }

    /// Opens a session for a guest and returns the token.
    func enterAsGuest() async throws -> String {
        try await ask(.post, "/v1/ships/session", json: #"{"mode":"guest"}"#).string("data.token")
    }

    /// Makes the upstream respond again, and waits until clients were notified.
    func recover(_ behaviour: ScriptedSpaceX.Behaviour = .ships(ShipFixtures.fleet)) async {
        await recover { spaceX.become(behaviour) }
    }
}

/// A scripted SpaceX API: its list of ships or a failure, and pictures.
final class ScriptedSpaceX: Sendable {
    enum Behaviour: Sendable {
        /// The list of ships, with an ETag and 304 like the real API.
        case ships([String])
        case response(Int, HTTPFields = [:], String = "")
        case unreachable(UnreachableReason)
    }

    private final class Script: Sendable {
        let behaviour: Mutex<Behaviour>
        let pictures = Mutex<[String: IncomingResponse]>([:])

        init(_ behaviour: Behaviour) { self.behaviour = Mutex(behaviour) }
    }

    private let script: Script
    /// The transport that responds by the script.
    let upstream: ScriptedTransport

    init(_ behaviour: Behaviour = .ships(ShipFixtures.fleet)) {
        let script = Script(behaviour)
        self.script = script
        upstream = ScriptedTransport { (request) throws(UpstreamError) in
            if let picture = script.pictures.withLock({ $0[request.url] }) { return picture }
            return try Self.response(to: request, script.behaviour.withLock { $0 })
        }
    }

    /// Responds differently from now on.
    func become(_ behaviour: Behaviour) {
        script.behaviour.withLock { $0 = behaviour }
    }

    /// Serves a picture at a URL from now on.
    func showPicture(
        _ bytes: [UInt8],
        type: String = "image/png",
        status: Int = 200,
        headerFields: HTTPFields = [:],
        at url: String
    ) {
        var fields = headerFields
        fields[.contentType] = type
        let response = IncomingResponse(status: .init(code: status), headerFields: fields, body: bytes)
        script.pictures.withLock { $0[url] = response }
    }

    /// The requests so far.
    var requests: [OutgoingRequest] { upstream.requests }
    var listRequests: [OutgoingRequest] { requests.filter { $0.url.hasSuffix("/v4/ships") } }

    private static func response(to request: OutgoingRequest, _ behaviour: Behaviour) throws(UpstreamError)
        -> IncomingResponse
    {
        switch behaviour {
        case .unreachable(let reason):
            throw .unreachable(reason)
        case .response(let status, let fields, let body):
            return IncomingResponse(status: .init(code: status), headerFields: fields, body: Array(body.utf8))
        case .ships(let records):
            guard request.url == "https://api.test/v4/ships" else {
                return IncomingResponse(status: .notFound, body: Array("Not Found".utf8))
            }
            let body = ShipFixtures.list(records)
            let tag = "\"\(body.hashValue)\""
            if request.headerFields[.ifNoneMatch] == tag {
                return IncomingResponse(status: .notModified, headerFields: [.eTag: tag])
            }
            let fields: HTTPFields = [
                .contentType: "application/json; charset=utf-8", .eTag: tag, .cacheControl: "max-age=300",
            ]
            return IncomingResponse(status: .ok, headerFields: fields, body: Array(body.utf8))
        }
    }
}

/// Made records in the shape of the API.
enum ShipFixtures {
    /// One record; `members` are further members as JSON.
    static func record(_ id: String, _ name: String, _ members: String = "") -> String {
        #"{"id":"\#(id)","name":"\#(name)"\#(members.isEmpty ? "" : "," + members)}"#
    }

    static func list(_ records: [String]) -> String { "[" + records.joined(separator: ",") + "]" }

    static let bob = record(
        "b0b",
        "bob",
        """
        "type":"Tug","roles":["Barge Tug","Support Ship"],"active":true,"year_built":2009,"home_port":"Port Made",\
        "mass_kg":502999,"image":"https://pictures.test/bob.png"
        """
    )
    static let alma = record(
        "a1",
        "Alma",
        """
        "type":null,"roles":[],"active":false,"year_built":null,"home_port":null,"mass_kg":null,"image":null,\
        "legacy_id":null
        """
    )
    static let carl = record("ca", "Carl", #""type":"Barge","year_built":1976"#)
    static let dora = record("d0", "DORA", #""type":"Cargo""#)

    /// By name: Alma, bob, Carl, DORA.
    static let fleet = [dora, bob, carl, alma]

    /// The ships of the bundled snapshot.
    static let bundled = [carl, alma, record("5a", "Snapshot Only")]

    static func ships(_ records: [String]) throws -> [Ship] {
        try ShipRecords(json: Data(list(records).utf8)).ships
    }

    static func snapshot(_ records: [String], recordedAt: String = "2024-10-09T00:00:00Z") throws -> ShipSnapshot {
        try ShipSnapshot(
            json: Data(#"{"source":"made","recorded_at":"\#(recordedAt)","ships":\#(list(records))}"#.utf8)
        )
    }

    /// The structure of a JPEG of one pixel: a frame, a scan and its end.
    static let jpeg: [UInt8] = [
        0xFF, 0xD8, 0xFF, 0xC0, 0x00, 0x0B, 0x08, 0x00, 0x01, 0x00, 0x01, 0x01, 0x01, 0x11, 0x00, 0xFF, 0xDA, 0x00,
        0x08, 0x01, 0x01, 0x00, 0x00, 0x3F, 0x00, 0x00, 0xFF, 0xD9,
    ]
}

// Reads in transactions of their own, as of a screen whose upstream was asked.
extension ShipStore {
    func list(account: String, page: PageRequest, since: Int?) throws -> ShipPage {
        try users.read { try ShipPage($0, account: account, page: page, since: since) }
    }

    func ship(_ id: String, account: String) throws -> ShipOfAccount? {
        try users.read { try Self.ship(id, account: account, $0) }
    }
}

extension ShipPage {
    var hasMore: Bool { page.hasMore }
}

extension ShipStore {
    /// The ships of a server by itself.
    init(_ database: LarderDatabase) { self.init(UserDatabase(database)) }

    /// The file of the server.
    var database: LarderDatabase { users.database }

    /// Merges the list of the API, in one transaction.
    ///
    /// - Returns: The last new revision, nil if nothing changed.
    @discardableResult
    static func merge(_ ships: [ShipColumns], in db: Database) throws -> Int? {
        let merge = ShipMerge(of: ships)
        var last: Int?
        while true {
            let part = try merge.writeNext(db)
            merge.note(part)
            last = part.revision ?? last
            if part.left.isEmpty { return last }
        }
    }
}

/// The ships as a server has them.
struct ShipNode {
    let store: ShipStore

    /// Takes over the list of the API at a time.
    ///
    /// - Parameter listing: The list that servers had before it was requested; nil for that of now.
    func merge(_ listed: [Ship], at time: Date, after listing: Int64? = nil) async throws {
        _ = try await store.users.catchUp()
        let listing = try listing ?? store.listing()
        let persistRows = store.persistRows(of: listed, listedAt: time, after: listing) { _ in }
        try await persistRows.writeBefore()
        while try await !store.database.write({ try persistRows.writeNext(in: $0) }) {}
    }

    /// Reads a page as a screen does.
    func list(account: String, page: PageRequest, since: Int? = nil) async throws -> ShipPage {
        _ = try await store.users.catchUp()
        return try store.list(account: account, page: page, since: since)
    }

    func ship(_ id: String, account: String) async throws -> ShipOfAccount? {
        _ = try await store.users.catchUp()
        return try store.ship(id, account: account)
    }
}

extension ClusterAccess {
    /// Returns one more server's ships, in a new file.
    func shipNode() throws -> ShipNode {
        let database = try LarderDatabase.temporary(migrations: ShipsHarness.migrations)
        return ShipNode(store: ShipStore(otherServer().users(in: database, ShipsHarness.replicated)))
    }
}

extension StoreKind {
    /// Returns servers of the Ships app: one by itself, or several that share the ships.
    func shipNodes(_ count: Int) async throws -> [ShipNode] {
        switch self {
        case .sqlite:
            let store = ShipStore(try LarderDatabase.temporary(migrations: ShipStore.migrations))
            return Array(repeating: ShipNode(store: store), count: count)
        case .postgresql:
            let access = try await ClusterAccess.temporary()
            return try (0..<count).map { _ in try access.shipNode() }
        }
    }
}
