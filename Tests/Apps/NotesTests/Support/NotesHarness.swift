import Cluster
import Concurrency
import Foundation
import GRDB
import HTTPTypes
import Logging
import Storage
import TestKit
import Upstream

@testable import Notes
@testable import Screens

/// The scripted upstreams of the app.
struct NotesUpstreams: Sendable {
    let people: ScriptedTransport
    let geocoder: ScriptedTransport
}

extension SettingValues {
    /// Three people are fetched, places are fresh for an hour, and hashing a password costs next to nothing.
    static let notes = standard.with(NotesApp.scryptLogarithm, 2).with(NotesApp.placesFreshness, .seconds(3600))
        .with(NotesApp.peoplePath, "/api/schema").with(NotesApp.peopleCount, 3)
}

/// The Notes app over scripted upstreams.
typealias NotesHarness = AppHarness<NotesApp, NotesUpstreams>

extension AppHarness<NotesApp, NotesUpstreams> {
    /// Three people, one of them with nothing but an id and a first name.
    static var threePeople: String {
        """
        [{"id":1,"first_name":"Zoë","last_name":"Le Quesne","email":"z@example.org","gender":"Female",\
        "avatar":"https://robots.test/zoe.png?size=50x50\\u0026set=set1"},
         {"id":2,"first_name":"adam","last_name":null,"email":null,"gender":null,"avatar":null},
         {"id":3,"first_name":"Carl","last_name":"Abel","email":"c@example.org","gender":"Male",\
        "avatar":"https://robots.test/carl.png"}]
        """
    }

    @Sendable static func respondPeople(_: OutgoingRequest) throws(UpstreamError) -> IncomingResponse {
        .json(threePeople)
    }

    /// Runs a test against the app.
    static func run(
        people script: @escaping ScriptedTransport.Step = respondPeople,
        geocoder geocoding: ScriptedTransport.Step? = nil,
        clock: ManualClock = ManualClock(),
        directory: DataDirectory? = nil,
        settings: SettingValues = .notes,
        shared: ClusterAccess? = nil,
        _ test: @Sendable (NotesHarness) async throws -> Void
    ) async throws {
        let scripted = NotesUpstreams(
            people: ScriptedTransport(script),
            geocoder: ScriptedTransport(geocoding ?? failure(.unreachable(.refused)))
        )
        var upstreams = [
            AppUpstream(NotesApp.people, at: "https://people.test", scripted.people) {
                $0.allowedHosts = ["robots.test"]
            }
        ]
        if geocoding != nil {
            upstreams.append(AppUpstream(NotesApp.geocoder, at: "https://geocoder.test", scripted.geocoder))
        }
        try await run(
            NotesApp.self,
            fixture: scripted,
            upstreams: upstreams,
            AppSurroundings(clock: clock, directory: directory, settings: settings, shared: shared),
            test
        )
    }

    /// Runs a test for an account that has registered, with its token.
    static func run(
        people script: @escaping ScriptedTransport.Step = respondPeople,
        geocoder: ScriptedTransport.Step? = nil,
        directory: DataDirectory? = nil,
        settings: SettingValues = .notes,
        _ test: @Sendable (NotesHarness, String) async throws -> Void
    ) async throws {
        try await run(people: script, geocoder: geocoder, directory: directory, settings: settings) { app in
            try await test(app, try await app.register())
        }
    }

    var people: ScriptedTransport { fixture.people }
    var geocoder: ScriptedTransport { fixture.geocoder }

    func ask(_ method: HTTPRequest.Method, _ target: String, as token: String? = nil, _ json: String) async throws
        -> Exchanged
    {
        try await ask(method, target, as: token, json: json)
    }

    func ask(_ method: HTTPRequest.Method, _ target: String, as token: String?, _ fields: HTTPFields, _ json: String)
        async throws -> Exchanged
    {
        try await ask(method, target, as: token, fields, json: json)
    }

    func delete(_ target: String, as token: String?, _ fields: HTTPFields = [:]) async throws -> Exchanged {
        try await ask(.delete, target, as: token, fields)
    }

    /// Registers or logs in; the whole response.
    func session(_ mode: String, _ name: String, _ password: String = "secret") async throws -> Exchanged {
        try await ask(
            .post,
            "/v1/notes/session",
            json: #"{"mode":"\#(mode)","username":"\#(name)","password":"\#(password)"}"#
        )
    }

    /// Registers and returns the token.
    func register(_ name: String = "bob") async throws -> String {
        try await session("register", name).string("data.token")
    }

    /// Adds a note and returns its id.
    @discardableResult
    func add(_ body: String, _ location: String? = nil, as token: String) async throws -> String {
        let location = location.map { #","location":\#($0)"# } ?? ""
        return try await ask(.post, "/v1/notes", as: token, json: #"{"body":"\#(body)"\#(location)}"#).string("data.id")
    }
}

extension Database {
    /// URLs of stored responses that are never evicted, in order.
    func pinnedURLs() throws -> [String] {
        try String.fetchAll(self, sql: "SELECT url FROM stored_response WHERE pinned = 1 ORDER BY url")
    }
}

/// A database with many notes of one account, all over the world and many in one city.
enum ManyNotes {
    /// - Parameter hasTerms: Whether the database has the index of terms: those of earlier versions have not.
    static func fill(_ database: LarderDatabase, notes: Int, hasTerms: Bool = true) throws {
        var chance = SeededRandom(seed: 11)
        try database.write { db in
            try db.execute(
                sql: """
                    INSERT INTO notes_account
                        (id, name_key, name, salt, rounds, block_size, parallelism, digest, created)
                    VALUES (1, 'a', 'a', x'', 4, 8, 1, x'', 0)
                    """
            )
            for number in 1...notes {
                let isCity = number % 2 == 0
                let latitude =
                    isCity
                    ? Double.random(in: 52.3...52.7, using: &chance) : Double.random(in: -60...75, using: &chance)
                let longitude =
                    isCity
                    ? Double.random(in: 13...13.8, using: &chance) : Double.random(in: -180...180, using: &chance)
                guard let point = Coordinate(latitude: latitude, longitude: longitude) else { continue }
                let note = Note(
                    id: Int64(number),
                    body: "note number \(number) of a long walk with dog\(number % 100)",
                    location: .init(coordinate: point, name: "Place \(number % 500)"),
                    modified: Date(timeIntervalSince1970: Double(number)),
                    created: Date(timeIntervalSince1970: Double(number)),
                    revision: number
                )
                let cell = MapGrid.cell(of: point, zoom: MapGrid.deepest)
                try db.cachedStatement(sql: NoteStore.insert).execute(arguments: [
                    "id": nil, "account": 1, "body": note.body, "opening": note.body, "latitude": latitude,
                    "longitude": longitude,
                    "location_name": note.location.name,
                    "cell_x": cell.x, "cell_y": cell.y, "created": number, "modified": number, "revision": number,
                ])
                if hasTerms {
                    try NoteStore.index(note, account: 1, db)
                } else {
                    try NoteStore.indexPosition(note, account: 1, db)
                }
            }
            try db.execute(sql: "UPDATE notes_account SET revision = ?", arguments: [notes])
        }
    }
}

extension NoteStore {
    /// The notes of a server by itself.
    init(_ database: LarderDatabase) { self.init(UserDatabase(database)) }
}

extension ClusterAccess {
    /// Returns one more server's notes, in a new file.
    func noteStore() throws -> NoteStore {
        let database = try LarderDatabase.temporary(migrations: NoteStore.migrations + Journal.fileMigrations)
        return NoteStore(otherServer().users(in: database, NoteStore.replicated))
    }
}

extension StoreKind {
    /// Returns new notes of a server by itself, or of one of several.
    func notes() async throws -> NoteStore {
        switch self {
        case .sqlite: NoteStore(try LarderDatabase.temporary(migrations: NoteStore.migrations))
        case .postgresql: try await ClusterAccess.temporary().noteStore()
        }
    }
}
