import HTTPTypes
import TestKit
import Testing

@testable import Screens

/// Accepted and refused input of routes, and the texts of refusals.
struct RouteInputTests {
    private let ships = Route(.get, "/ships", "ships.list") { _ in
        plain("{}")
    }
    .query(.page, "since_revision", "refresh")

    private let notes = Route(.post, "/notes", "notes.details") { request in
        _ = try await request.jsonObject()
        return plain("{}")
    }
    .body("body", .object("location", "lat", "lon", "name"))

    @Test("HARN-29 Declared parameters are taken, in any order, and nothing else is needed")
    func declared() async throws {
        let harness = try ScreenHarness([ships])
        for query in ["", "?", "?limit=2", "?refresh&cursor=x&limit=2", "?%6Cimit=2", "?since_revision=1&&"] {
            #expect(try await harness.serve(.get, "/ships\(query)").status == .ok, "\(query)")
        }
    }

    @Test(
        "HARN-29 An unknown parameter is 400 that names it and the nearest known one, or all if none is near",
        arguments: [
            ("limt=2", "There is no parameter limt; did you mean limit?"),
            ("Limit=2", "There is no parameter Limit; did you mean limit?"),
            ("sinceRevision=2", "There is no parameter sinceRevision; did you mean since_revision?"),
            (
                "zz=1",
                "There is no parameter zz; accepted: limit, offset, cursor, since_revision, refresh."
            ),
            ("limit=1&ofset=2", "There is no parameter ofset; did you mean offset?"),
            ("li%0Amit=1", "There is no parameter li\u{FFFD}mit; did you mean limit?"),
        ]
    )
    func unknown(query: String, detail: String) async throws {
        let response = try await ScreenHarness([ships]).serve(.get, "/ships?\(query)")
        #expect(response.status == .badRequest)
        let problem = try response.json()
        #expect(problem["code"] == "invalid-parameter" && problem["detail"] == .string(detail))
        guard case .array(let errors) = problem["errors"], case .object(let error) = errors.first else {
            Issue.record("no errors")
            return
        }
        #expect(errors.count == 1 && error["code"] == "unknown" && error["parameter"] != nil)
    }

    @Test("HARN-29 A route without parameters says that it takes none; a parameter without a name is 400, too")
    func none() async throws {
        let harness = try ScreenHarness([notes, ships])
        let response = try await harness.serve(.post, "/notes?zz=1", body: #"{"body":"x"}"#)
        #expect(try response.json()["detail"] == "There is no parameter zz; none is taken here.")
        #expect(try await harness.serve(.get, "/ships?=1").code() == "malformed-request")
    }

    @Test("HARN-29 A problem names ten unknown parameters or members at most")
    func many() async throws {
        let harness = try ScreenHarness([notes, ships])
        let query = (1...50).map { "x\($0)=1" }.joined(separator: "&")
        let members = (1...50).map { "\"x\($0)\":1" }.joined(separator: ",")
        for response in [
            try await harness.serve(.get, "/ships?\(query)"),
            try await harness.serve(.post, "/notes", body: "{\(members)}"),
        ] {
            guard case .array(let errors) = try response.json()["errors"] else {
                Issue.record("no errors")
                return
            }
            #expect(response.status == .badRequest && errors.count == 10)
        }
    }

    @Test(
        "HARN-29 An unknown member is 400 with a pointer, in an inner object, too",
        arguments: [
            (#"{"body":"x","bogus":1}"#, "/bogus", "There is no member bogus; accepted: body, location."),
            (#"{"bodi":"x"}"#, "/bodi", "There is no member bodi; did you mean body?"),
            (#"{"location":{"lat":1,"lng":2}}"#, "/location/lng", "There is no member lng; did you mean lat or lon?"),
            (#"{"a/b~c":1}"#, "/a~1b~0c", "There is no member a/b~c; accepted: body, location."),
        ]
    )
    func members(body: String, pointer: String, detail: String) async throws {
        let response = try await ScreenHarness([notes]).serve(.post, "/notes", body: body)
        let problem = try response.json()
        #expect(response.status == .badRequest && problem["code"] == "malformed-request")
        #expect(problem["detail"] == .string(detail))
        #expect(
            problem["errors"]
                == .array([.object(["pointer": .string(pointer), "code": "unknown", "detail": .string(detail)])])
        )
    }

    @Test("HARN-29 Known members are taken, whatever their values are: those are the handler's to judge")
    func knownMembers() async throws {
        let harness = try ScreenHarness([notes])
        for body in [#"{}"#, #"{"body":{"x":1}}"#, #"{"location":null}"#, #"{"location":{"lat":1,"name":"x"}}"#] {
            #expect(try await harness.serve(.post, "/notes", body: body).status == .ok, "\(body)")
        }
    }
}
