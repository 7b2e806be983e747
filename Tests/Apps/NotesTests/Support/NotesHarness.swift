import AppTestKit
import Database
import Foundation
import HTTPTypes
import Logging
import TestKit
import Upstream

@testable import Notes
@testable import Screens

/// The real routes of the app over scripted upstreams, a temporary database and a clock that a test moves. Hashing a
/// password costs next to nothing here.
struct NotesHarness: Sendable {
    let routed: RoutedApp
    let clock: ManualWallClock
    let people: ScriptedUpstream
    let geocoder: ScriptedUpstream
    let upstream: Upstream
    let events: EventStream
    let database: LarderDatabase

    static let png: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00, 0x00, 0x00,
        0x0D, 0x49, 0x44, 0x41, 0x54, 0x78, 0x01, 0x01, 0x02, 0x00, 0xFD, 0xFF, 0x00, 0xFF, 0x01, 0x01, 0x01, 0x00,
        0x60, 0x87, 0x12, 0xB5, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]

    /// Three people, one of them with nothing but an id and a first name.
    static let threePeople = """
        [{"id":1,"first_name":"Zoë","last_name":"Le Quesne","email":"z@example.org","gender":"Female",
          "avatar":"https://robots.test/zoe.png?size=50x50\\u0026set=set1"},
         {"id":2,"first_name":"adam","last_name":null,"email":null,"gender":null,"avatar":null},
         {"id":3,"first_name":"Carl","last_name":"Abel","email":"c@example.org","gender":"Male",
          "avatar":"https://robots.test/carl.png"}]
        """

    @Sendable static func respondPeople(_: OutgoingRequest) throws(UpstreamError) -> IncomingResponse {
        .json(threePeople)
    }

    @Sendable private static func unreachable(_: OutgoingRequest) throws(UpstreamError) -> IncomingResponse {
        throw .unreachable(.refused)
    }

    static func run(
        people script: @escaping ScriptedUpstream.Script = respondPeople,
        geocoder geocoding: ScriptedUpstream.Script? = nil,
        clock: ManualWallClock = ManualWallClock(),
        directory: DataDirectory? = nil,
        options: NotesApp.Options = .init(scryptLogarithm: 2),
        key: String = "",
        count: Int = 3,
        _ test: @Sendable (NotesHarness) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let database = try LarderDatabase.withCacheTables(
            in: try directory ?? .temporary(),
            migrations: SessionStore.migrations + NoteStore.migrations,
            logger: logger
        )
        let events = EventStream(run: "test", clock: clock.wallClock)
        let people = ScriptedUpstream(script)
        let geocoder = ScriptedUpstream(unreachable)
        if let geocoding { geocoder.become(geocoding) }
        func upstream(_ name: String, _ transport: ScriptedUpstream) throws -> Upstream {
            guard let url = URL(string: "https://\(name).test") else { throw URLError(.badURL) }
            return Upstream(
                configuration: UpstreamConfiguration(
                    name: name,
                    title: "the \(name) API",
                    baseURL: url,
                    allowedHosts: ["robots.test"]
                ),
                transport: transport,
                database: database,
                clock: clock.wallClock,
                jitter: { 0.5 },
                retries: RetryPolicy(attempts: 1),
                logger: logger
            )
        }
        let peopleUpstream = try upstream("people", people)
        let geocoderUpstream = try upstream("geocoder", geocoder)
        let sessions = SessionStore(database)
        let app = NotesApp(
            store: NoteStore(database),
            people: PeopleClient(
                upstream: peopleUpstream,
                options: .init(path: "/api/schema", key: Secret(key), count: count)
            ),
            geocoder: geocoding == nil ? nil : GeocoderClient(upstream: geocoderUpstream, freshness: .seconds(3600)),
            gazetteer: try .bundled(),
            sessions: sessions,
            events: events,
            options: options,
            clock: clock.wallClock
        )
        try await RoutedApp.run(RouteTable(app.routes), sessions: sessions) { routed in
            let harness = NotesHarness(
                routed: routed,
                clock: clock,
                people: people,
                geocoder: geocoder,
                upstream: peopleUpstream,
                events: events,
                database: database
            )
            try await test(harness)
        }
        peopleUpstream.stop()
        geocoderUpstream.stop()
        try database.close()
    }

    func get(_ target: String, as token: String? = nil, _ fields: HTTPFields = [:]) async throws -> Exchanged {
        try await routed.get(target, as: token, fields)
    }

    func ask(_ method: HTTPRequest.Method, _ target: String, as token: String? = nil, _ json: String) async throws
        -> Exchanged
    {
        try await routed.ask(method, target, as: token, json: json)
    }

    func ask(_ method: HTTPRequest.Method, _ target: String, as token: String?, _ fields: HTTPFields, _ json: String)
        async throws -> Exchanged
    {
        try await routed.ask(method, target, as: token, fields, json: json)
    }

    func delete(_ target: String, as token: String?, _ fields: HTTPFields = [:]) async throws -> Exchanged {
        try await routed.ask(.delete, target, as: token, fields)
    }

    /// Registers or logs in; the whole response.
    func session(_ mode: String, _ name: String, _ password: String = "secret") async throws -> Exchanged {
        try await ask(
            .post,
            "/v1/notes/session",
            #"{"mode":"\#(mode)","username":"\#(name)","password":"\#(password)"}"#
        )
    }

    struct NoText: Error { let response: String }

    /// Registers and gives the token.
    func register(_ name: String = "bob") async throws -> String {
        let response = try await session("register", name)
        guard case .string(let token) = response["data.token"] else { throw NoText(response: response.text) }
        return token
    }

    /// Adds a note and gives its id.
    @discardableResult
    func add(_ body: String, _ location: String? = nil, as token: String) async throws -> String {
        let response = try await ask(
            .post,
            "/v1/notes",
            as: token,
            #"{"body":"\#(body)"\#(location.map { #","location":\#($0)"# } ?? "")}"#
        )
        guard case .string(let id) = response["data.id"] else { throw NoText(response: response.text) }
        return id
    }
}
