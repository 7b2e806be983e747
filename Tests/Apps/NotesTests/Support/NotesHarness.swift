import Concurrency
import Foundation
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
    /// A grey pixel.
    static var png: [UInt8] {
        [
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00,
            0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00,
            0x00, 0x00, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0xDA, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81,
            0xDA, 0x45, 0x08, 0x3B, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
        ]
    }

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
