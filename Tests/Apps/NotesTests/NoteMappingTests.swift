import Foundation
import HTTP
import HTTPTypes
import Screens
import TestKit
import Testing

@testable import Notes

@Suite("The map over HTTP")
struct NoteMappingTests {
    private func location(_ lat: Double, _ lon: Double, _ name: String = "Here") -> String {
        #"{"lat":\#(lat),"lon":\#(lon),"name":"\#(name)"}"#
    }

    @Test("NOTE-05 A pin for each note, with callout and link; the centre is the last saved note with a place")
    func pins() async throws {
        try await NotesHarness.run { app, token in
            let first = try await app.add(
                "A dog outside, and this text is longer than a callout",
                location(37.79, -122.42, "Laguna St"),
                as: token
            )
            let second = try await app.add("two\\nlines", location(48.86, 2.35, "Paris"), as: token)
            let map = try await app.get("/v1/notes/map?lat=1&lon=2", as: token)
            #expect(map.status == 200 && map["meta.screen"] == "notes.map" && map["meta.state"] == "content")
            #expect(map.headerFields[.vary] == "Authorization, Cookie, Accept, Accept-Language, Accept-Encoding")
            #expect(map.all("note_id", in: "data.pins") == [.string(second), .string(first)])
            #expect(map["data.pins.0.title"] == "two lines" && map["data.pins.0.subtitle"] == "Today at 10:00 • Paris")
            #expect(map["data.pins.1.title"] == "A dog outside, and this text i…")
            #expect(
                map.strings("first_line", in: "data.pins")
                    == ["two", "A dog outside, and this text is longer than a callout"]
            )
            #expect(
                map["data.pins.1.lat"] == 37.79 && map["data.pins.1.lon"] == -122.42
                    && map["data.pins.1.href"] == .string("/v1/notes/\(first)")
            )
            #expect(
                map["data.center.lat"] == 48.86 && map["data.center.lon"] == 2.35
                    && map["data.center.reason"] == "latest_note"
            )
            #expect(
                map["data.span_m"] == 10_000 && map["data.clusters"] == [] && map["data.zoom"] == .null
                    && map["data.total"] == 2
            )
            _ = try await app.ask(.patch, "/v1/notes/\(first)", as: token, "{}")
            #expect(try await app.get("/v1/notes/map", as: token)["data.center.lat"] == 37.79, "changes show at once")
            _ = try await app.delete("/v1/notes/\(first)", as: token)
            #expect(try await app.get("/v1/notes/map", as: token).all("note_id", in: "data.pins") == [.string(second)])
        }
    }

    @Test("NOTE-05 Without notes the centre is the user, else 0, 0, and no pin of a deleted note remains")
    func empty() async throws {
        try await NotesHarness.run { app, token in
            let user = try await app.get("/v1/notes/map?lat=55.76&lon=37.62", as: token)
            #expect(
                user["data.center.lat"] == 55.76 && user["data.center.reason"] == "user"
                    && user["meta.state"] == "empty"
            )
            #expect(
                user["data.empty.title"] == "No Notes Yet" && user["data.empty.button"] == "Create Note",
                "SRV-06 every empty screen says what to show"
            )
            let note = try await app.add("a", location(1, 1), as: token)
            _ = try await app.delete("/v1/notes/\(note)", as: token)
            let empty = try await app.get("/v1/notes/map", as: token)
            #expect(
                empty["data.pins"] == [] && empty["data.center.reason"] == "zero" && empty["data.center.lat"] == 0
                    && empty["meta.state"] == "empty"
            )
        }
    }

    @Test("NOTE-05 A note without a place is no centre: it is the last one with a place, else the user, else 0, 0")
    func placedCentre() async throws {
        try await NotesHarness.run { app, token in
            func center(_ query: String = "") async throws -> [JSON?] {
                let map = try await app.get("/v1/notes/map\(query)", as: token)
                return ["lat", "lon", "name", "reason"].map { map["data.center.\($0)"] }
            }
            try await app.add("nowhere", as: token)
            #expect(try await center() == [0, 0, "Unknown location", "zero"])
            let user = "?lat=55.75581&lon=37.61733"
            #expect(try await center(user) == [55.75581, 37.61733, "Moscow, Russia", "user"])
            let paris = try await app.add("Paris", location(48.86, 2.35, "Paris"), as: token)
            try await app.add("nowhere", as: token)
            for query in [user, "?placed=1", ""] {
                #expect(try await center(query) == [48.86, 2.35, "Paris", "latest_note"], "\(query)")
            }
            // 0, 0 with a name is a place.
            let island = try await app.add("island", location(0, 0, "Null Island"), as: token)
            #expect(try await center(user) == [0, 0, "Null Island", "latest_note"])
            for id in [paris, island] { _ = try await app.delete("/v1/notes/\(id)", as: token) }
            #expect(try await center() == [0, 0, "Unknown location", "zero"])
        }
    }

    @Test(
        "NOTE-05 A view shows what is in it, across the antimeridian too",
        arguments: [
            ("-10,40,10,60", ["Paris"]), ("170,-30,-170,0", ["Suva", "Taveuni"]),
            ("-180,-90,180,90", ["Paris", "Suva", "Taveuni", "Edge"]), ("0,0,1,1", []),
            ("2.35,48.86,2.35,48.86", ["Paris"]), ("170,-30,180,0", ["Suva"]), ("180,-90,-180,90", ["Edge"]),
            ("-180,0,-170,20", ["Edge"]),
        ]
    )
    func view(box: String, expected: [String]) async throws {
        try await NotesHarness.run { app, token in
            try await app.add("Edge", location(10, 180), as: token)
            try await app.add("Taveuni", location(-16.8, -179.9), as: token)
            try await app.add("Suva", location(-18.14, 178.44), as: token)
            try await app.add("Paris", location(48.86, 2.35), as: token)
            let map = try await app.get("/v1/notes/map?bbox=\(box)", as: token)
            #expect(map.all("title", in: "data.pins") == expected.map { .string($0) })
            #expect(
                map["data.total"] == 4 && map["data.center.lat"] == 48.86,
                "the centre is the latest note, wherever it is"
            )
            #expect(map["meta.state"] == "content" && map["data.empty"] == nil)
        }
    }

    @Test("NOTE-05 By zoom, near notes are one cluster with their number and middle, and single ones stay pins")
    func clusters() async throws {
        try await NotesHarness.run { app, token in
            for (lat, lon) in [(48.85, 2.34), (48.87, 2.36), (48.86, 2.35)] {
                try await app.add("Paris", location(lat, lon), as: token)
            }
            try await app.add("Sydney", location(-33.87, 151.21), as: token)
            let far = try await app.get("/v1/notes/map?zoom=4", as: token)
            #expect(far["data.zoom"] == 4 && far.all("count", in: "data.clusters") == [3])
            #expect(far["data.clusters.0.lat"] == 48.86 && far["data.clusters.0.lon"] == 2.35)
            #expect(far.all("title", in: "data.pins") == ["Sydney"])
            let href = try far.string("data.clusters.0.href")
            let nearer = try await app.get(href, as: token)
            #expect(
                nearer["data.zoom"] == 7 && nearer.all("count", in: "data.clusters") == [3] && nearer["data.pins"] == []
            )
            let near = try await app.get("/v1/notes/map?zoom=20", as: token)
            #expect(near["data.zoom"] == .null && near.all("title", in: "data.pins").count == 4)
        }
    }

    @Test("NOTE-05 A cluster names its city in both languages, unless its notes are far from each other")
    func places() async throws {
        try await NotesHarness.run { app, token in
            for (lat, lon) in [(37.77, -122.42), (37.78, -122.41), (60.17, 24.94), (37.98, 23.73)] {
                try await app.add("Note", location(lat, lon), as: token)
            }
            // Two notes of San Francisco; the middle of Helsinki and Athens is in Ukraine.
            let map = try await app.get("/v1/notes/map?zoom=0", as: token)
            #expect(map.all("count", in: "data.clusters") == [2, 2])
            #expect(map.all("city", in: "data.clusters") == ["San Francisco", .null])
            let russian = try await app.get("/v1/notes/map?zoom=0", as: token, [.acceptLanguage: "ru"])
            #expect(russian["data.clusters.0.city"] == "Сан-Франциско")
        }
    }

    @Test("NOTE-05 With placed=1 notes without a place are counted, and are neither pins nor in clusters")
    func placed() async throws {
        try await NotesHarness.run { app, token in
            for text in ["one", "two"] { try await app.add(text, as: token) }
            try await app.add("Null Island", location(0, 0), as: token)
            try await app.add("Nairobi", location(-1.29, 36.82), as: token)
            try await app.add("Kampala", location(-0.31, 32.58), as: token)
            let all = try await app.get("/v1/notes/map?zoom=0", as: token)
            #expect(all.all("count", in: "data.clusters") == [5] && all["data.unplaced"] == .null)
            #expect(try await app.get("/v1/notes/map", as: token).all("title", in: "data.pins").count == 5)
            let pins = try await app.get("/v1/notes/map?placed=1", as: token)
            #expect(pins.strings("title", in: "data.pins") == ["Kampala", "Nairobi", "Null Island"])
            #expect(pins["data.unplaced"] == 2 && pins["data.total"] == 5)
            let cluster = try await app.get("/v1/notes/map?zoom=0&placed=1", as: token)
            #expect(cluster.all("count", in: "data.clusters") == [3] && cluster["data.pins"] == [])
            guard case .number(let lat)? = cluster["data.clusters.0.lat"],
                case .number(let lon)? = cluster["data.clusters.0.lon"]
            else {
                Issue.record("no cluster")
                return
            }
            #expect(abs(lat + 1.6 / 3) < 1e-6 && abs(lon - 69.4 / 3) < 1e-6)
            // Its address leads to the same notes.
            let within = try await app.get(cluster.string("data.clusters.0.href"), as: token)
            #expect(within.strings("title", in: "data.pins") == ["Kampala", "Nairobi", "Null Island"])
            // One that is left in the cell of 0, 0 is a pin.
            let near = try await app.get("/v1/notes/map?zoom=8&placed=1", as: token)
            #expect(near["data.clusters"] == [])
            #expect(near.strings("title", in: "data.pins") == ["Kampala", "Nairobi", "Null Island"])
        }
    }

    @Test("NOTE-05 A view that ends at the antimeridian has the notes on it, at 180 as at -180")
    func antimeridian() async throws {
        try await NotesHarness.run { app, token in
            try await app.add("east", location(0, 180), as: token)
            try await app.add("west", location(0, -180), as: token)
            for box in ["170,-30,180,30", "-180,-30,-170,30", "170,-30,-170,30", "-180,-90,180,90"] {
                let map = try await app.get("/v1/notes/map?bbox=\(box)", as: token)
                #expect(map.all("title", in: "data.pins") == ["west", "east"], "\(box)")
            }
            let inland = try await app.get("/v1/notes/map?bbox=170,-30,179,30", as: token)
            #expect(inland["data.pins"] == [])
            // Clusters, too: two notes on either side.
            try await app.add("east", location(-0.001, 180), as: token)
            try await app.add("west", location(-0.001, -180), as: token)
            for box in ["170,-30,180,30", "-180,-30,-170,30", "170,-30,-170,30", "-180,-90,180,90"] {
                for zoom in [0, 3, 10] {
                    let map = try await app.get("/v1/notes/map?bbox=\(box)&zoom=\(zoom)", as: token)
                    #expect(map.all("count", in: "data.clusters") == [2, 2], "\(box) \(zoom)")
                }
            }
            let clusters = try await app.get("/v1/notes/map?bbox=170,-30,179,30&zoom=10", as: token)
            #expect(clusters["data.clusters"] == [] && clusters["data.pins"] == [])
        }
    }

    @Test("NOTE-05 A cluster's href shows exactly its notes, without those on the edge of a neighbour cell")
    func exactCluster() async throws {
        try await NotesHarness.run { app, token in
            // At zoom 2 a cell is 22.5° wide: 45° is the edge of two of them.
            for (lat, lon) in [(10.0, 44.0), (10, 43), (10, 45), (10, 46)] {
                try await app.add("\(lon)", location(lat, lon), as: token)
            }
            let map = try await app.get("/v1/notes/map?zoom=2", as: token)
            #expect(map.all("count", in: "data.clusters") == [2, 2])
            for case .string(let href) in map.all("href", in: "data.clusters") {
                #expect(href.contains("?cell="))
                let pins = try await app.get(href.replacing("zoom=5", with: "zoom=15"), as: token)
                #expect(pins.all("title", in: "data.pins").count == 2, "\(href)")
                let cells = try await app.get(href, as: token)
                let clustered = cells.all("count", in: "data.clusters") == [2]
                #expect(clustered || cells.all("title", in: "data.pins").count == 2, "\(href)")
            }
            for cell in ["1/2", "15/0/0", "2/16/0", "-1/0/0", "a/b/c", "2/1/1&bbox=0,0,1,1"] {
                try await app.get("/v1/notes/map?cell=\(cell)", as: token).expectProblem("invalid-parameter", 400)
            }
        }
    }

    @Test("NOTE-05 As GeoJSON the same notes are features, longitude first, in their own media type")
    func geoJSON() async throws {
        try await NotesHarness.run { app, token in
            let note = try await app.add("A dog", location(37.79, -122.42, "Laguna St"), as: token)
            let response = try await app.get("/v1/notes/map?zoom=20", as: token, [.accept: "application/geo+json"])
            #expect(
                response.status == 200 && response.headerFields[.contentType] == "application/geo+json; charset=utf-8"
            )
            #expect(
                response.headerFields[.vary] == "Authorization, Cookie, Accept, Accept-Language, Accept-Encoding"
                    && response.headerFields[.cacheControl] == "private, no-cache"
                    && response.headerFields[.contentLanguage] == "en"
            )
            #expect(response.names(in: "") == ["type", "features"] && response["type"] == "FeatureCollection")
            #expect(response["features.0.type"] == "Feature" && response["features.0.id"] == .string(note))
            #expect(
                response["features.0.geometry.type"] == "Point"
                    && response["features.0.geometry.coordinates"] == [-122.42, 37.79]
            )
            #expect(
                response["features.0.properties.title"] == "A dog" && response["features.0.properties.cluster"] == false
            )
            try await app.add("another", location(37.79, -122.42), as: token)
            let clustered = try await app.get("/v1/notes/map?zoom=3", as: token, [.accept: "application/geo+json"])
            #expect(
                clustered["features.0.properties.point_count"] == 2
                    && clustered["features.0.properties.cluster"] == true
            )
            #expect(clustered["features.0.id"] == nil)
            let tag = try #require(clustered.headerFields[.eTag])
            let screen = try await app.get("/v1/notes/map?zoom=3", as: token, [.accept: "application/json"])
            #expect(screen.headerFields[.eTag] != tag && screen["data.clusters.0.count"] == 2)
            #expect(
                try await app.get(
                    "/v1/notes/map?zoom=3",
                    as: token,
                    [.accept: "application/geo+json", .ifNoneMatch: tag]
                ).status == 304
            )
        }
    }

    @Test(
        "NOTE-05 GeoJSON is sent if the client names it and does not prefer JSON",
        arguments: [
            ("application/geo+json", true), ("Application/GEO+JSON; q=0.5", true),
            ("application/json, application/geo+json", true), ("*/*", false),
            ("", false),
            ("application/json, application/geo+json;q=0.9", false), ("application/geo+json;q=0", false),
            ("text/html, */*;q=0.8, application/geo+json", true),
        ]
    )
    func preference(accept: String, isPreferred: Bool) {
        #expect(NoteFeatureCollection.isPreferred(by: AcceptedMediaTypes([.accept: accept])) == isPreferred)
    }

    @Test(
        "NOTE-05 What is no view, no zoom and no position is 400 with its parameter named",
        arguments: [
            ("bbox=1,2,3", "bbox"), ("bbox=1,2,3,nan", "bbox"), ("bbox=0,10,5,-10", "bbox"),
            ("bbox=-181,0,0,0", "bbox"), ("bbox=a", "bbox"), ("bbox=", "bbox"),
            ("bbox=0,0,1,1,", "bbox"), ("bbox=0x1,0,1,1", "bbox"), ("bbox=0,0,inf,1", "bbox"), ("zoom=-1", "zoom"),
            ("zoom=25", "zoom"), ("zoom=a", "zoom"),
            ("lat=1", "lon"), ("lon=1", "lat"), ("lat=91&lon=0", "lat"), ("lat=0&lon=nan", "lon"),
            ("lat=1e999&lon=0", "lat"),
        ]
    )
    func malformed(query: String, parameter: String) async throws {
        try await NotesHarness.run { app in
            let response = try await app.get("/v1/notes/map?\(query)", as: app.register())
            response.expectProblem("invalid-parameter", 400)
            #expect(response["errors.0.parameter"] == .string(parameter))
        }
    }
}
