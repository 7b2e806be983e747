import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Notes

@Suite("Notes as files", .timeLimit(.minutes(10)))
struct NoteTransferTests {
    private static func load(_ text: String, _ app: NotesHarness, as token: String, _ fields: HTTPFields = [:])
        async throws
        -> Exchanged
    {
        try await load([FormFile("file", Data(text.utf8))], app, as: token, fields)
    }

    private static func load(_ files: [FormFile], _ app: NotesHarness, as token: String, _ fields: HTTPFields = [:])
        async throws -> Exchanged
    {
        let form = MultipartForm(files)
        var fields = fields
        fields[.contentType] = form.contentType
        return try await app.ask(.post, "/v1/notes/import", as: token, fields, body: form.body)
    }

    private static func export(_ format: String, _ app: NotesHarness, as token: String) async throws -> String {
        let response = try await app.get("/v1/notes/export?format=\(format)", as: token)
        #expect(response.status == 200)
        return response.text
    }

    private static func total(_ app: NotesHarness, _ token: String) async throws -> JSON? {
        try await app.get("/v1/notes", as: token)["meta.page.total"]
    }

    /// All that a user sees of each note, the last saved first.
    private static func shown(_ app: NotesHarness, as token: String) async throws -> [Note] {
        var notes: [Note] = []
        let account = try #require(try app.app.notes.store.account(UserName.registering("bob")))
        _ = token
        try app.app.notes.store.forEachNote(of: account.id) { notes.append($0) }
        return notes
    }

    @Test("NOTE-16 The list offers an import and an export in each form, and the files say what they are")
    func offered() async throws {
        try await NotesHarness.run { app, token in
            try await app.add("A dog outside", #"{"lat":37.79,"lon":-122.42,"name":"Laguna St"}"#, as: token)
            let actions = try await app.get("/v1/notes", as: token)
            let ids = actions.all("id", in: "data.actions")
            for id in ["import", "export_json", "export_geojson", "export_gpx"] { #expect(ids.contains(.string(id))) }
            for (format, type) in [
                ("json", "application/json"), ("geojson", "application/geo+json"), ("gpx", "application/gpx+xml"),
            ] {
                let response = try await app.get("/v1/notes/export?format=\(format)", as: token)
                #expect(response.headerFields[.contentType] == "\(type); charset=utf-8")
                #expect(
                    response.headerFields[.contentDisposition]?.hasPrefix(
                        "attachment; filename=\"notes-2026-01-05.\(format)"
                    )
                        == true
                )
                #expect(response.text.contains("A dog outside"))
            }
            try await app.get("/v1/notes/export?format=kml", as: token).expectProblem("invalid-parameter", 400)
            try await app.get("/v1/notes/export").expectProblem("session-required", 401)
            // The default is all that a note has.
            #expect(try await app.get("/v1/notes/export", as: token)["notes.0.location.name"] == "Laguna St")
        }
    }

    @Test("NOTE-16 An own export of each form, imported again, changes nothing; an empty account gets equal notes")
    func roundTrips() async throws {
        for (format, seed) in [("json", 1), ("geojson", 2), ("gpx", 3)] as [(String, UInt64)] {
            try await NotesHarness.run { app, token in
                let account = try #require(try app.app.notes.store.account(UserName.registering("bob"))).id
                try await Self.addAnyNotes(40, of: account, app, seed: seed, hasPlaces: format == "gpx")
                let before = try await Self.shown(app, as: token)
                let file = try await Self.export(format, app, as: token)
                for _ in 1...2 {
                    let again = try await Self.load(file, app, as: token)
                    again.expectScreen("notes.list")
                    #expect(again["data.added"] == 0 && again["data.unchanged"] == .number(Double(before.count)))
                }
                #expect(try await Self.shown(app, as: token) == before)

                let eve = try await app.register("eve")
                let imported = try await Self.load(file, app, as: eve)
                #expect(imported["data.added"] == .number(Double(before.count)), "\(imported.text)")
                // The ids and versions are those of the other account; all else is equal.
                let copy = try await Self.export("json", app, as: eve)
                let plain = { (text: String) in text.replacing(/"(id|version)":("n[0-9]+"|[0-9]+)/, with: "") }
                #expect(plain(copy) == plain(try await Self.export("json", app, as: token)))
                #expect(try await Self.load(file, app, as: eve)["data.added"] == 0)
                try await NoteIndex.expectExact(in: app.database)
            }
        }
    }

    private static func addAnyNotes(_ count: Int, of account: Int64, _ app: NotesHarness, seed: UInt64, hasPlaces: Bool)
        async throws
    {
        var chance = SeededRandom(seed: seed)
        for number in 0..<count {
            let point = Coordinate(
                latitude: number == 0 ? 1e-7 : Double.random(in: -90...90, using: &chance),
                longitude: number == 1 ? -180 : Double.random(in: -180...180, using: &chance)
            )
            let place = String.random(using: &chance).filter { $0 != "\0" }.trimmingCharacters(
                in: .whitespacesAndNewlines
            )
            let isPlace = hasPlaces || Bool.random(using: &chance)
            var location = Note.Location.unknown
            if let point, isPlace { location = .init(coordinate: point, name: place.isEmpty ? "x" : place) }
            let time = Date(timeIntervalSince1970: Double.random(in: -1e10...1e10, using: &chance).rounded())
            let draft = NoteDraft(
                body: "x" + String.random(using: &chance),
                location: location,
                created: time,
                modified: time + 5
            )
            _ = try await app.app.notes.store.add([draft], account: account, now: app.clock.now)
        }
    }

    @Test("NOTE-16 GPX of other programs: waypoints with names, texts, times of any zone; tracks, routes are counted")
    func gpx() async throws {
        try await NotesHarness.run { app, token in
            let file = """
                <?xml version="1.0"?>
                <gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><metadata><name>no</name></metadata>
                <wpt lat="48.8583" lon=" 2.2945 "><ele>33</ele><time>2019-02-10T12:12:13.5+03:00</time>
                <name>Tour <![CDATA[<Eiffel>]]></name><cmt>high</cmt><desc>Very high &amp; old</desc></wpt>
                <wpt lat="60.17" lon="24.94"/>
                <trk><name>walk</name><trkseg><trkpt lat="1" lon="1"/></trkseg></trk><rte/></gpx>
                """
            let response = try await Self.load(file, app, as: token)
            #expect(response["data.added"] == 2 && response["data.left_out"] == 2, "\(response.text)")
            #expect(response["data.text"] == "Added: 2. Already there: 0. Tracks, routes and areas left out: 2")
            let notes = try await Self.shown(app, as: token)
            #expect(notes.map(\.body) == ["high\n\nVery high & old", "60.17, 24.94"])
            #expect(notes[0].location.name == "Tour <Eiffel>" && notes[1].location.name.contains("Helsinki"))
            #expect(WireFormat.timestamp(notes[0].created) == "2019-02-10T09:12:13Z")
            #expect(try await Self.load(file, app, as: token)["data.added"] == 0)
        }
    }

    @Test("NOTE-16 GeoJSON of other programs: points with titles and descriptions, no geometry, other geometries")
    func geoJSON() async throws {
        try await NotesHarness.run { app, token in
            let file = """
                {"type":"FeatureCollection","features":[
                {"type":"Feature","geometry":{"type":"Point","coordinates":[24.94,60.17,7]},\
                "properties":{"title":"Home","description":"Sweet","count":3}},
                {"type":"Feature","geometry":null,"properties":{"name":"Nowhere"}},
                {"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]},"properties":null}]}
                """
            let response = try await Self.load(file, app, as: token)
            #expect(response["data.added"] == 2 && response["data.left_out"] == 1, "\(response.text)")
            let notes = try await Self.shown(app, as: token)
            #expect(notes.map(\.body) == ["Sweet", "Nowhere"])
            #expect(notes.map(\.location.name) == ["Home", "Unknown location"])
        }
    }

    @Test(
        "NOTE-16 A bad file is refused in both languages with its name and the member or line; nothing is imported",
        arguments: [
            (
                #"{"notes":[{"body":"a"},{"body":" "},{"body":"b","location":{"lat":91,"lon":0}}]}"#,
                "validation-failed", 422,
                ["file, /notes/1/body:", "file, /notes/2/location/lat:"]
            ),
            (
                #"{"notes":[{"body":"a","created_at":"yesterday"},7]}"#, "validation-failed", 422,
                ["/notes/0/created_at", "/notes/1: An object"]
            ),
            (#"{"notes":[{"body":"a"}"#, "damaged", 422, ["file is not valid JSON: line 1, column 23"]),
            (#"{"features":1}"#, "unsupported-media-type", 415, ["file is neither"]),
            ("", "unsupported-media-type", 415, []),
            ("PK\u{3}\u{4}", "unsupported-media-type", 415, ["file is neither"]),
            ("<kml/>", "unsupported-media-type", 415, ["file is neither"]),
            (
                #"{"type":"FeatureCollection","features":[{"geometry":{"type":"Point","coordinates":[181,0]}}]}"#,
                "validation-failed", 422, ["/features/0: The longitude"]
            ),
            (
                #"{"type":"Feature","geometry":{"type":"Point","coordinates":[1]},"properties":{}}"#,
                "validation-failed", 422,
                ["needs latitude and longitude"]
            ),
            (
                "<gpx>\n<wpt lat=\"1\" lon=\"2\"/>\n<wpt lat=\"1\"/>\n<wpt lat=\"NaN\" lon=\"0\"/></gpx>",
                "validation-failed", 422,
                ["line 3:", "line 4: The latitude"]
            ),
            (
                "<gpx><wpt lat=\"1\" lon=\"2\"><time>2026-02-30T00:00:00Z</time></wpt></gpx>", "validation-failed", 422,
                ["line 1"]
            ),
            ("<gpx>\n<wpt lat=\"1\" lon=\"2\">", "damaged", 422, ["file, line 2: The file ends too early."]),
            (
                "<!DOCTYPE gpx [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><gpx><wpt><desc>&a;</desc></wpt></gpx>",
                "damaged", 422, ["document type declaration"]
            ),
        ]
    )
    func bad(file: String, code: String, status: Int, details: [String]) async throws {
        try await NotesHarness.run { app, token in
            let response = try await Self.load(file, app, as: token)
            response.expectProblem(code, status)
            #expect(response["errors.0.pointer"] == "/files/0")
            for detail in details { #expect(response.text.contains(detail), "\(response.text)") }
            let russian = try await Self.load(file, app, as: token, [.acceptLanguage: "ru"])
            russian.expectProblem(code, status)
            for text in russian.strings("detail", in: "errors") {
                #expect(text.unicodeScalars.contains { (0x400...0x4FF).contains($0.value) }, "\(text)")
            }
            #expect(try await Self.total(app, token) == 0)
        }
    }

    @Test("NOTE-16 Beyond the limits of notes, bytes and faults a file is refused, and soon")
    func limits() async throws {
        try await NotesHarness.run { app, token in
            let points = String(repeating: "<wpt lat=\"1\" lon=\"2\"/>\n", count: 100_000)
            try await Self.load("<gpx>\(points)</gpx>", app, as: token).expectProblem("too-large", 413)
            let faults = String(repeating: "<wpt/>\n", count: 100_000)
            let many = try await Self.load("<gpx>\(faults)</gpx>", app, as: token)
            many.expectProblem("validation-failed", 422)
            #expect(many.all("code", in: "errors").count == 20)
            try await Self.load(String(repeating: " ", count: 17 << 20), app, as: token).expectProblem("too-large", 413)
            try await Self.load([FormFile](), app, as: token).expectProblem("validation-failed", 422)
            let halves = (0..<2).map { _ in
                FormFile("half", Data("<gpx>\(points.prefix(23 * 6000))</gpx>".utf8))
            }
            try await Self.load(halves, app, as: token).expectProblem("too-large", 413)
            #expect(try await Self.total(app, token) == 0)
        }
    }

    @Test("NOTE-16 An import is one change: quota, versions and Idempotency-Key hold for all of it")
    func whole() async throws {
        let settings = SettingValues.notes.with(NotesApp.quota, 1 << 20)
        try await NotesHarness.run(settings: settings) { app, token in
            let records = (0..<1200).map { #"{"body":"note \#($0)"}"# }.joined(separator: ",")
            try await Self.load(#"{"notes":[\#(records)]}"#, app, as: token).expectProblem("quota-exceeded", 507)
            #expect(try await Self.total(app, token) == 0)
            let file = #"{"notes":[{"body":"a"},{"body":"b"}]}"#
            try await Self.load(file, app, as: token, [.ifMatch: "\"7\""]).expectProblem("precondition-failed", 412)
            let key: HTTPFields = [.idempotencyKey: "\"import\""]
            let first = try await Self.load(file, app, as: token, key)
            #expect(first["data.added"] == 2)
            let again = try await Self.load(file, app, as: token, key)
            again.expectRepeats(first)
            #expect(try await Self.load(file, app, as: token)["data.unchanged"] == 2)
            #expect(try await Self.total(app, token) == 2)
            try await app.ask(.post, "/v1/notes/import", as: nil, body: Data()).expectProblem("session-required", 401)
        }
    }

    @Test("NOTE-16 Equal notes of a file are added as often as it has them; those of another language's file are known")
    func equal() async throws {
        try await NotesHarness.run { (app, token) async throws in
            let nowhere = #"{"lat":0,"lon":0,"name":"Место неизвестно"}"#
            let file =
                #"{"notes":[{"body":"a"},{"body":"a"},{"body":"a","location":\#(nowhere)}]}"#
            #expect(try await Self.load(file, app, as: token)["data.added"] == 3)
            #expect(try await Self.load(file, app, as: token)["data.added"] == 0)
            #expect(try await Self.shown(app, as: token).allSatisfy { $0.location == .unknown })
        }
    }

    @Test("NOTE-16 Times have zones or are UTC; those that do not exist are none")
    func times() {
        for (text, expected) in [
            ("2026-01-05T14:59:00Z", "2026-01-05T14:59:00Z"), ("2026-01-05T14:59:00+03:00", "2026-01-05T11:59:00Z"),
            ("2026-01-05t14:59:00.25-0530", "2026-01-05T20:29:00Z"), ("2026-01-05 14:59", "2026-01-05T14:59:00Z"),
            ("2000-02-29T00:00:00", "2000-02-29T00:00:00Z"), (" 1600-01-01T00:00:00Z\n", "1600-01-01T00:00:00Z"),
        ] {
            #expect(Date(timestamp: text).map(WireFormat.timestamp) == expected, "\(text)")
        }
        for text in [
            "", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-01-05T24:00:00Z", "2026-01-05",
            "0000-00-00T00:00:00Z",
        ] {
            #expect(Date(timestamp: text) == nil, "\(text)")
        }
        #expect(
            [1e-7, -1.5e-5, 0, 37.79, -180, .leastNonzeroMagnitude].map { Double($0.decimal) } == [
                1e-7, -1.5e-5, 0, 37.79, -180, .leastNonzeroMagnitude,
            ]
        )
        #expect((1e-7).decimal == "0.0000001" && (-1.5e-5).decimal == "-0.000015")
    }
}

extension String {
    /// A text of any characters, more of those that forms of files treat as special.
    static func random(using chance: inout SeededRandom) -> String {
        let special = [
            "<", "&", ">", "\"", "\r", "\r\n", "\n", "\t", "]]>", "\\", "é", "e\u{301}", "👩‍👩‍👧", "№", "\u{1}",
            "\u{FFFE}",
        ]
        return (0..<Int.random(in: 0...12, using: &chance)).map { _ in
            if Bool.random(using: &chance) { return special.randomElement(using: &chance) ?? "" }
            let scalar = Unicode.Scalar(UInt32.random(in: 0x20...0x2FFFF, using: &chance))
            return scalar.map { String($0) } ?? " "
        }.joined()
    }
}
