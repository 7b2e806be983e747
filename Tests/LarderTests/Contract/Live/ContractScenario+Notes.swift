import TestKit
import Testing

extension ContractScenario {
    /// A session of the notes app.
    func notesSession(_ name: String = "contract", mode: String = "register") async throws -> [String: String] {
        let response = try await ask(
            "POST /v1/notes/session",
            body: #"{"mode":"\#(mode)","username":"\#(name)","password":"secret"}"#
        )
        return ["Authorization": "Bearer \(try response.json["data"]?["token"]?.string ?? "")"]
    }

    /// The app while the people API and the geocoder are reachable, with requests that are refused.
    func notes() async throws {
        try await people()
        let member = try await notesSession("writer")
        try await notesSessions(member)
        try await notesWriting(member)
        try await notesTrash(member)
        try await notesFiles(member)
        try await notesMap(member)
        try await notesConditional(member)
    }

    private func notesSessions(_ member: [String: String]) async throws {
        for isHead in [false, true] {
            try await ask("GET /v1/notes/launch", isHead: isHead)
            try await ask("GET /v1/notes/launch", member, isHead: isHead)
            try await ask("GET /v1/notes/session", member, isHead: isHead)
        }
        let open = "POST /v1/notes/session"
        #expect(try await ask(open, body: #"{"mode":"register","username":"WRITER","password":"x"}"#).status == 409)
        #expect(try await ask(open, body: #"{"mode":"login","username":"nobody","password":"x"}"#).status == 401)
        for body in [
            #"{}"#, #"{"mode":"guest"}"#, #"{"mode":"login"}"#, #"{"mode":"login","username":7,"password":"x"}"#,
        ] {
            #expect(try await ask(open, body: body).status == 422, "\(body)")
        }
        for body in [nil, "", "{", "[]", "null"] { #expect(try await ask(open, body: body).status == 400) }
        try await ask(open, ["Content-Type": "text/plain"], body: "{}")
        try await ask(open, body: #"{"mode":"\#(String(repeating: "x", count: 70_000))"}"#)
        // Ten wrong passwords are the limit; the right one must wait, too.
        _ = try await notesSession("guessed")
        for _ in 1...10 {
            #expect(try await ask(open, body: #"{"mode":"login","username":"guessed","password":"x"}"#).status == 401)
        }
        #expect(
            try await ask(open, body: #"{"mode":"login","username":"guessed","password":"secret"}"#).headers[
                "retry-after"
            ] != nil
        )
        try await notesAccount()
        let first = ["If-Match": "\"1\""]
        let login = #"{"mode":"login","username":"writer","password":"secret"}"#
        #expect(try await ask(open, first, body: login).status == 412)
        let leaving = try await notesSession("writer", mode: "login")
        #expect(try await ask("DELETE /v1/notes/session", leaving.merging(first) { own, _ in own }).status == 412)
        #expect(try await ask("DELETE /v1/notes/session", leaving).status == 200)
        try await sessionByCookie("notes", login)
        try await ask("GET /v1/notes/launch", leaving)
    }

    private func notesAccount() async throws {
        let member = try await notesSession("leaving")
        let (password, deletion) = ("PUT /v1/notes/account/password", "POST /v1/notes/account/deletion")
        let bodies = [
            password: #"{"password":"secret","new_password":"another"}"#, deletion: #"{"password":"another"}"#,
        ]
        for (operation, body) in bodies.sorted(by: { $0.key > $1.key }) {
            for malformed in [nil, "{", "[]"] {
                #expect(try await ask(operation, member, body: malformed).status == 400)
            }
            try await ask(operation, member.merging(["Content-Type": "text/plain"]) { own, _ in own }, body: body)
            try await ask(operation, member, body: #"{"password":"\#(String(repeating: "x", count: 70_000))"}"#)
            #expect(try await ask(operation, member, body: "{}").status == 422)
            let stale = member.merging(["If-Match": "\"1\""]) { own, _ in own }
            #expect(try await ask(operation, stale, body: body).status == 412)
            #expect(try await ask(operation, member, body: body).status == 200)
        }
        let guessing = try await notesSession("guessing")
        let part = guessing.merging(["Content-Range": "bytes 0-1/2"]) { own, _ in own }
        #expect(try await ask(password, part, body: bodies[password]).status == 400)
        let wrong = #"{"password":"x","new_password":"y"}"#
        for _ in 1...10 { #expect(try await ask(password, guessing, body: wrong).status == 422) }
        for (operation, body) in [(password, wrong), (deletion, #"{"password":"x"}"#)] {
            #expect(try await ask(operation, guessing, body: body).status == 429)
        }
    }

    private func notesWriting(_ member: [String: String]) async throws {
        try await ask("GET /v1/notes", member)
        try await ask("GET /v1/notes/map", member)
        let create = "POST /v1/notes"
        let body = #"{"body":"A dog outside","location":{"lat":37.79,"lon":-122.42,"name":"Laguna St"}}"#
        let stale = ["If-None-Match": "*"].merging(member) { own, _ in own }
        #expect(try await ask(create, stale, body: body).status == 412)
        let created = try await ask(create, query: "?tz=Europe/Paris", member, body: body)
        let id = try #require(try created.json.at(pointer: "/data/id")?.string)
        try await keyedNotes(member)
        try await wrongNotes(member, id, body)
        try await changedNotes(member, id)
        let extra = try await ask(create, member, body: body)
        try await askPages("GET /v1/notes", member)
        let copy = try #require(try extra.json.at(pointer: "/data/id")?.string)
        try await ask("DELETE /v1/notes/{id}", ship: copy, member)
    }

    /// Notes with `Idempotency-Key`.
    private func keyedNotes(_ member: [String: String]) async throws {
        let create = "POST /v1/notes"
        let keyed = member.merging(["Idempotency-Key": "\"nowhere\""]) { own, _ in own }
        for isRepeated in [false, true] {
            let response = try await ask(create, keyed, body: #"{"body":"\nnowhere"}"#)
            #expect(response.status == 201 && (response["Idempotency-Replayed"] == "true") == isRepeated)
        }
        #expect(try await ask(create, keyed, body: #"{"body":"somewhere"}"#).status == 422)
        try await ask(create, member, body: #"{"body":"\nnowhere"}"#)
    }

    private func wrongNotes(_ member: [String: String], _ id: String, _ body: String) async throws {
        let (create, change) = ("POST /v1/notes", "PATCH /v1/notes/{id}")
        for wrong in [
            #"{}"#, #"{"body":" "}"#, #"{"body":"a","location":{"lat":91,"lon":0}}"#, #"{"body":"a","location":7}"#,
        ] {
            #expect(try await ask(create, member, body: wrong).status == 422, "\(wrong)")
        }
        let long = String(repeating: "x", count: 70_000)
        #expect(try await ask(create, member, body: #"{"body":"\#(long)"}"#).status == 422)
        for (operation, ship) in [(create, ""), (change, id)] {
            for malformed in [nil, "{", "[]"] {
                #expect(try await ask(operation, ship: ship, member, body: malformed).status == 400)
            }
            #expect(try await ask(operation, query: "?tz=Mars", ship: ship, member, body: body).status == 400)
            let plain = ["Content-Type": "text/plain"].merging(member) { own, _ in own }
            try await ask(operation, ship: ship, plain, body: body)
            try await ask(operation, ship: ship, member, body: #"{"body":"\#(String(repeating: long, count: 8))"}"#)
        }
    }

    private func changedNotes(_ member: [String: String], _ id: String) async throws {
        let change = "PATCH /v1/notes/{id}"
        #expect(
            try await ask(change, query: "?tz=Asia/Tokyo", ship: id, member, body: #"{"location":null}"#).status == 200
        )
        #expect(try await ask(change, ship: id, member, body: #"{"body":null}"#).status == 422)
        for operation in ["GET /v1/notes/{id}", change, "DELETE /v1/notes/{id}"] {
            #expect(
                try await ask(operation, ship: "n9999", member, body: operation == change ? "{}" : nil).status == 404
            )
            if operation != "GET /v1/notes/{id}" {
                let stale = ["If-Match": "\"0\""].merging(member) { own, _ in own }
                #expect(try await ask(operation, ship: id, stale, body: operation == change ? "{}" : nil).status == 412)
            }
        }
        for isHead in [false, true] {
            try await ask("GET /v1/notes/{id}", query: "?tz=Asia/Tokyo", ship: id, member, isHead: isHead)
        }
        try await ask("GET /v1/notes/{id}", query: "?tz=x", ship: id, member)
        for query in ["?limit=1&offset=1", "?q=dog", "?q=cat", "?tz=Europe/Paris"] {
            #expect(try await ask("GET /v1/notes", query: query, member).status == 200)
        }
        for query in ["?limit=0", "?offset=-1", "?tz=x"] {
            #expect(try await ask("GET /v1/notes", query: query, member).status == 400)
        }
    }

    /// Deleted notes: restored, deleted for good one by one and all together.
    private func notesTrash(_ member: [String: String]) async throws {
        let (trash, one) = ("/v1/notes/trash", "/v1/notes/trash/{id}")
        try await ask("GET \(trash)", member)
        var ids: [String] = []
        for body in ["one", "two", "three"] {
            let created = try await ask("POST /v1/notes", member, body: #"{"body":"\#(body)"}"#)
            ids.append(try #require(try created.json.at(pointer: "/data/id")?.string))
            #expect(try await ask("DELETE /v1/notes/{id}", ship: ids[ids.count - 1], member).status == 200)
        }
        for query in ["", "?limit=1&offset=1", "?tz=Asia/Tokyo", "?limit=0", "?tz=x"] {
            for isHead in [false, true] { try await ask("GET \(trash)", query: query, member, isHead: isHead) }
        }
        try await askPages("GET \(trash)", member)
        let tag = try #require(try await ask("GET \(trash)", member).headers["etag"])
        let conditional = ["If-None-Match": tag].merging(member) { own, _ in own }
        #expect(try await ask("GET \(trash)", conditional).status == 304)
        let stale = ["If-Match": "\"0\""].merging(member) { own, _ in own }
        for operation in ["POST \(one)/restore", "DELETE \(one)"] {
            #expect(try await ask(operation, ship: "n9999", member).status == 404)
            #expect(try await ask(operation, ship: ids[0], stale).status == 412)
        }
        for _ in 1...2 {
            let restored = try await ask("POST \(one)/restore", query: "?tz=Asia/Tokyo", ship: ids[0], member)
            #expect(restored.status == 200)
        }
        #expect(try await ask("DELETE \(one)", ship: ids[1], member).status == 200)
        #expect(try await ask("DELETE \(trash)", stale).status == 412)
        #expect(try await ask("DELETE \(trash)", member).status == 200)
        let last = try await ask("DELETE /v1/notes/{id}", query: "?permanently=true", ship: ids[0], member)
        #expect(last.status == 200)
    }

    private func notesFiles(_ member: [String: String]) async throws {
        let (export, load) = ("GET /v1/notes/export", "POST /v1/notes/import")
        for query in ["", "?format=json", "?format=geojson", "?format=gpx"] {
            for isHead in [false, true] {
                let response = try await ask(export, query: query, member, isHead: isHead)
                #expect(response.status == 200)
                guard !isHead else { continue }
                let again = try await ask(load, fields(Self.form, member), body: Self.form([("a", response.text)]))
                let added = try again.json.at(pointer: "/data/added")
                #expect(again.status == 200 && added == .number(0))
            }
        }
        #expect(try await ask(export, query: "?format=kml", member).status == 400)
        let point = "<wpt lat=\"1\" lon=\"2\"/>"
        let gpx = "<gpx>\(point)<trk/></gpx>"
        let stale = fields(Self.form.merging(["If-Match": "\"0\""]) { own, _ in own }, member)
        for (headers, body, status) in [
            (stale, Self.form([("a", gpx)]), 412), (fields(Self.form, member), Self.form([("a", gpx)]), 200),
            (fields(Self.form, member), "--part--\r\n", 422), (fields(Self.form, member), "--part\r\n", 400),
            (fields(Self.form, member), Self.form([("a", "<gpx>")]), 422),
            (fields(Self.form, member), Self.form([("a", "x")]), 415), (member, "{}", 415),
            (fields(Self.form, member), Self.form([("a", "<gpx>" + String(repeating: point, count: 10_001))]), 413),
        ] {
            #expect(try await ask(load, headers, body: body).status == status, "\(body.prefix(100))")
        }
    }

    private func fields(_ fields: [String: String], _ member: [String: String]) -> [String: String] {
        fields.merging(member) { own, _ in own }
    }

    private func notesMap(_ member: [String: String]) async throws {
        let geoJSON = ["Accept": "application/geo+json"].merging(member) { own, _ in own }
        for query in [
            "", "?zoom=2", "?zoom=20&tz=Asia/Tokyo", "?bbox=170,-30,-170,0", "?lat=1&lon=2", "?cell=0/0/0", "?placed=1",
        ] {
            for isHead in [false, true] {
                try await ask("GET /v1/notes/map", query: query, member, isHead: isHead)
                try await ask("GET /v1/notes/map", query: query, geoJSON, isHead: isHead)
            }
        }
        for query in ["?bbox=1", "?cell=1", "?zoom=25", "?lat=1", "?lon=181&lat=0", "?placed=2"] {
            #expect(try await ask("GET /v1/notes/map", query: query, member).status == 400)
        }
        try await ask("GET /v1/notes/cities", query: "?bbox=0,45,5,50&limit=3")
        for query in ["", "?q=par", "?q=lag", "?q=lag", "?q=xyzzy", "?q=lag&refresh=1"] {
            for isHead in [false, true] { try await ask("GET /v1/notes/places", query: query, member, isHead: isHead) }
        }
        #expect(
            try await ask("GET /v1/notes/places", query: "?q=\(String(repeating: "a", count: 201))", member).status
                == 400
        )
    }

    private func notesConditional(_ member: [String: String]) async throws {
        let geoJSON = ["Accept": "application/geo+json"].merging(member) { own, _ in own }
        let note = try #require(try await ask("GET /v1/notes", member).json.at(pointer: "/data/items/0/id")?.string)
        let reads = [
            ("GET /v1/notes/launch", "", member), ("GET /v1/notes/session", "", member), ("GET /v1/notes", "", member),
            ("GET /v1/notes/trash", "", member),
            ("GET /v1/notes/{id}", note, member),
            ("GET /v1/notes/map", "", member), ("GET /v1/notes/map", "", geoJSON), ("GET /v1/notes/places", "", member),
            ("GET /v1/notes/cities", "", [:]),
            ("GET /v1/notes/people", "", member),
            ("GET /v1/notes/people/{id}", "1", member), ("GET /v1/notes/people/{id}/avatar", "1", member),
        ]
        for (operation, ship, headers) in reads {
            try await ask(operation, ship: ship, headers)
            let tag = try #require(try await ask(operation, ship: ship, headers).headers["etag"], "\(operation)")
            for isHead in [false, true] {
                let conditional = ["If-None-Match": tag].merging(headers) { own, _ in own }
                #expect(try await ask(operation, ship: ship, conditional, isHead: isHead).status == 304, "\(operation)")
            }
        }
    }

    static let peopleReads = ["GET /v1/notes/people", "GET /v1/notes/people/{id}", "GET /v1/notes/people/{id}/avatar"]

    /// Without a fetch there are no people. After one, they are shown in every state of the upstream.
    private func people() async throws {
        let member = try await notesSession()
        let read = { (fault: String, status: Int) in
            try await larder.fault(fault, of: "people")
            // An upstream that was unreachable is not asked again before a probe has reached it.
            if fault == "online" {
                await BoundedWait.poll(for: "the people") {
                    (try? await ask(Self.peopleReads[0], ship: "1", member).status) == status
                }
            }
            for operation in Self.peopleReads {
                #expect(try await ask(operation, ship: "1", member).status == status, "\(operation) \(fault)")
            }
        }
        let onlyStored = ["Cache-Control": "only-if-cached"].merging(member) { own, _ in own }
        for operation in Self.peopleReads { #expect(try await ask(operation, ship: "1", onlyStored).status == 504) }
        for (fault, status) in [
            ("error(404)", 502), ("html(401)", 502), ("error(403)", 403), ("error(401)", 403), ("garbage", 502),
            ("offline", 503), ("online", 200),
        ] {
            try await read(fault, status)
        }
        try await fetchedPeople(member)
    }

    /// People that were fetched: their parameters, and the upstream out of reach.
    private func fetchedPeople(_ member: [String: String]) async throws {
        for operation in Self.peopleReads {
            for query in ["?refresh=1", "?refresh=1&replace=1"] {
                #expect(try await ask(operation, query: query, ship: "2", member).status == 200, "\(operation)")
            }
            for query in ["?refresh=maybe", "?replace=maybe"] {
                #expect(try await ask(operation, query: query, ship: "1", member).status == 400, "\(operation)")
            }
            if operation != Self.peopleReads[0] {
                #expect(try await ask(operation, ship: "99999", member).status == 404)
            }
        }
        for query in ["?limit=2&offset=1", "?limit=500", "?q=a", "?q=nobodyatall"] {
            #expect(try await ask("GET /v1/notes/people", query: query, member).status == 200)
        }
        try await askPages("GET /v1/notes/people", member)
        #expect(try await ask("GET /v1/notes/people", query: "?limit=501", member).status == 400)
        try await larder.fault("offline", of: "people")
        try await ask("GET /v1/notes/people", query: "?refresh=1&replace=1", member)
        for operation in Self.peopleReads {
            for isHead in [false, true] {
                #expect(try await ask(operation, ship: "1", member, isHead: isHead).status == 200)
            }
        }
        try await ask("GET /v1/notes/people/{id}/avatar", ship: "77", member)
        try await larder.fault("online", of: "people")
        try await ask("GET /v1/notes/people", query: "?refresh=1&replace=1", member)
    }

    /// A quota that is spent before anybody was fetched, and a geocoder out of reach.
    func notesUpstreamsRefuse() async throws {
        let member = try await notesSession("late")
        try await larder.fault("error(429, 60)", of: "people")
        for operation in Self.peopleReads {
            #expect(try await ask(operation, ship: "1", member).status == 429, "\(operation)")
        }
        for fault in ["error(500)", "offline"] {
            try await larder.fault(fault, of: "geocoder")
            #expect(try await ask("GET /v1/notes/places", query: "?q=par&refresh=1", member).status == 200)
        }
        #expect(try await ask("GET /v1/notes/places", query: "?q=lon", member).status == 200)
    }
}
